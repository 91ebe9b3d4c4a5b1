// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/intake.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Of one reader, with their contents: what a hundred thousand mappings in a row need. */
#define MAX_BYTES (32u << 20)

/* Owned by whoever holds the lock. */
struct inbox {
	struct reports *reports;
	struct intake_news news;
	bool open;
};

struct intake {
	struct engine *engine;
	struct sampler *sampler;
	pthread_mutex_t lock; /* of all below, and of both kinds of rings */
	struct inbox boxes[INTAKE_READERS];
	bool event; /* one was put aside in this round */
	uint64_t emptied;
	int fd;
};

struct intake *intake__new(struct engine *engine, struct sampler *sampler)
{
	struct intake *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return NULL;
	in->engine = engine;
	in->sampler = sampler;
	pthread_mutex_init(&in->lock, NULL);
	in->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = in->fd < 0 ? errno : ENOMEM;
	for (int i = 0; i < INTAKE_READERS; i++)
		in->boxes[i].reports = reports__new();
	in->boxes[INTAKE_MAIN].open = true;
	if (in->fd >= 0 && in->boxes[INTAKE_MAIN].reports && in->boxes[INTAKE_TABLES].reports)
		return in;
	intake__free(in);
	errno = err;
	return NULL;
}

void intake__free(struct intake *in)
{
	if (!in)
		return;
	for (int i = 0; i < INTAKE_READERS; i++)
		reports__free(in->boxes[i].reports);
	if (in->fd >= 0)
		close(in->fd);
	pthread_mutex_destroy(&in->lock);
	free(in);
}

static void set_open(struct intake *in, bool open)
{
	pthread_mutex_lock(&in->lock);
	in->boxes[INTAKE_TABLES].open = open;
	pthread_mutex_unlock(&in->lock);
}

void intake__open(struct intake *in)
{
	set_open(in, true);
}

void intake__close(struct intake *in)
{
	set_open(in, false);
}

static void take_mapping(void *context, const struct sampler_mapping *mapping)
{
	struct intake *in = context;

	for (int i = 0; i < INTAKE_READERS; i++) {
		if (!in->boxes[i].open)
			continue;
		in->boxes[i].news.mapped = mapping->time;
		reports__add_mapping(in->boxes[i].reports, mapping);
	}
}

static void take_event(void *context, const struct qz_event *event, size_t size)
{
	struct intake *in = context;
	bool process = event->type == QZ_EVENT_PROCESS;
	bool unknown = event->type == QZ_EVENT_UNKNOWN_CODE;

	for (int i = 0; i < INTAKE_READERS; i++) {
		struct inbox *box = &in->boxes[i];

		if (!box->open)
			continue;
		if (process || unknown)
			box->news.mapped = event->time;
		box->news.unknown_code |= unknown;
		if (process || event->type == QZ_EVENT_SCOPE_END || (i == INTAKE_MAIN && !unknown))
			reports__add_event(box->reports, event, size);
	}
	in->event |= !unknown;
}

static bool have_room(const struct intake *in)
{
	for (int i = 0; i < INTAKE_READERS; i++)
		if (in->boxes[i].open && reports__bytes(in->boxes[i].reports) > MAX_BYTES)
			return false;
	return true;
}

/*
 * What was reported of one process before another report of it was begun stands in its ring by then:
 * reports up to the time before the rings are looked at are complete, process by process.
 */
static void empty_rings(struct intake *in)
{
	in->emptied = engine__now();
	if (sampler__consume(in->sampler, take_mapping, in))
		for (int i = 0; i < INTAKE_READERS; i++)
			in->boxes[i].news.lost = true;
	engine__consume(in->engine, take_event, in);
}

uint64_t intake__take(struct intake *in, enum intake_reader reader, struct reports *to,
		      struct intake_news *news)
{
	struct inbox *box = &in->boxes[reader];
	uint64_t emptied, drained;
	bool wake;

	if (reader == INTAKE_MAIN)
		eventfd_read(in->fd, &drained);
	pthread_mutex_lock(&in->lock);
	in->event = false;
	reports__move(to, box->reports);
	if (have_room(in))
		empty_rings(in);
	reports__move(to, box->reports);
	emptied = in->emptied;
	*news = box->news;
	box->news = (struct intake_news) {0};
	wake = in->event && reader != INTAKE_MAIN;
	pthread_mutex_unlock(&in->lock);
	if (wake)
		eventfd_write(in->fd, 1);
	return emptied;
}

int intake__fd(const struct intake *in)
{
	return in->fd;
}

uint64_t intake__dropped(struct intake *in)
{
	uint64_t dropped = 0;

	pthread_mutex_lock(&in->lock);
	for (int i = 0; i < INTAKE_READERS; i++)
		dropped += reports__dropped(in->boxes[i].reports);
	pthread_mutex_unlock(&in->lock);
	return dropped;
}
