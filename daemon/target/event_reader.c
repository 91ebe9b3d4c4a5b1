// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/target/event_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/privsep/opener.h"
#include "daemon/target/loss_backoff.h"
#include "daemon/util/guard.h"

/* Put aside, with their contents: what a hundred thousand mappings in a row need. */
#define MAX_BYTES    (32u << 20)
#define HURRY	     50000000ull /* ns after a report */
#define TICK_MS	     100
#define ALONE_MS     250 /* of the other thread, for when the main thread is held up */
#define HURRY_MS     5
#define HURRY_MS_ALL 20 /* each look costs two threads a wake-up */

struct event_reader {
	struct bpf_runtime *bpf;
	struct perf_sampler *sampler;
	struct address_spaces *spaces;
	pthread_mutex_t lock;	      /* of all below, and of both kinds of rings */
	struct reorder_buffer *fresh; /* what the address spaces take in */
	struct reorder_buffer *aside; /* for the main thread */
	struct loss_backoff losses;
	uint32_t keeper_returns; /* see opener__came_back() */
	uint64_t emptied;
	uint64_t mapped; /* when anything was last mapped or executed */
	bool unknown_code;
	bool event; /* there was one in this round */
	int fd;
};

struct event_reader *event_reader__new(struct bpf_runtime *bpf, struct perf_sampler *sampler,
				       struct address_spaces *spaces)
{
	struct event_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	r->bpf = bpf;
	r->sampler = sampler;
	r->spaces = spaces;
	pthread_mutex_init(&r->lock, NULL);
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->fd < 0 ? errno : ENOMEM;
	r->fresh = reorder_buffer__new();
	r->aside = reorder_buffer__new();
	if (r->fd >= 0 && r->fresh && r->aside)
		return r;
	event_reader__free(r);
	errno = err;
	return NULL;
}

void event_reader__free(struct event_reader *r)
{
	if (!r)
		return;
	reorder_buffer__free(r->fresh);
	reorder_buffer__free(r->aside);
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void keep_mapping(void *context, const struct perf_sampler_mapping *mapping)
{
	struct event_reader *r = context;

	r->mapped = mapping->time;
	reorder_buffer__add_mapping(r->fresh, mapping);
}

/* Whether there may be new code to read. After a fork there is none: the child has its parent's, whose tables are known. */
static bool maps(const struct qz_event *event, size_t size)
{
	const struct qz_process_event *e = (const struct qz_process_event *)event;

	return size >= sizeof(*e) && e->cause != QZ_IMAGE_FORK;
}

/* Those of processes go on to the main thread when the address spaces have taken them in. */
static void keep_event(void *context, const struct qz_event *event, size_t size)
{
	struct event_reader *r = context;

	r->event |= event->type != QZ_EVENT_UNKNOWN_CODE;
	switch (event->type) {
	case QZ_EVENT_UNKNOWN_CODE:
		r->mapped = event->time;
		r->unknown_code = true;
		break;
	case QZ_EVENT_PROCESS:
		if (maps(event, size))
			r->mapped = event->time;
		reorder_buffer__add_event(r->fresh, event, size);
		break;
	default:
		reorder_buffer__add_event(r->aside, event, size);
	}
}

static bool take_report(void *context, const struct report *report)
{
	struct event_reader *r = context;

	if (report->kind == REPORT_MAPPING) {
		address_spaces__mapping(r->spaces, &report->mapping);
	} else if (report->event->length >= sizeof(struct qz_process_event)) {
		address_spaces__process(r->spaces, (const struct qz_process_event *)report->event);
		reorder_buffer__add_event(r->aside, report->event, report->size - sizeof(*report));
	}
	return true;
}

/*
 * A report of a process is in its ring before the next report of that process begins: reports up to the time before the
 * rings are read are complete, process by process.
 */
static void empty_rings(struct event_reader *r)
{
	uint64_t now = bpf_runtime__now(), until = now;
	bool lost = perf_sampler__consume(r->sampler, keep_mapping, r);

	bpf_runtime__consume(r->bpf, keep_event, r);
	if (lost || opener__came_back(&r->keeper_returns))
		loss_backoff__lost(&r->losses, now);
	reorder_buffer__process(r->fresh, &until, take_report, r);
	if (loss_backoff__wants_reading(&r->losses, now)) /* of what is reported since, too */
		address_spaces__distrust(r->spaces);
	r->emptied = until;
}

/* With the lock held. */
static void read_rings(struct event_reader *r)
{
	r->event = false;
	if (reorder_buffer__bytes(r->aside) <= MAX_BYTES)
		empty_rings(r);
}

uint64_t event_reader__read(struct event_reader *r)
{
	GUARD(&r->lock);

	read_rings(r);
	if (r->event)
		eventfd_write(r->fd, 1);
	return r->emptied;
}

uint64_t event_reader__take(struct event_reader *r, struct reorder_buffer *to, bool *news)
{
	GUARD(&r->lock);
	uint64_t drained, mapped = r->mapped;

	eventfd_read(r->fd, &drained);
	reorder_buffer__move(to, r->aside);
	read_rings(r);
	*news = r->mapped != mapped;
	reorder_buffer__move(to, r->aside);
	return r->emptied;
}

int event_reader__fd(const struct event_reader *r)
{
	return r->fd;
}

bool event_reader__met_unknown_code(struct event_reader *r)
{
	GUARD(&r->lock);
	bool met = r->unknown_code;

	r->unknown_code = false;
	return met;
}

static int patience_ms(struct event_reader *r, bool waits, uint32_t halvings, int most)
{
	GUARD(&r->lock);
	uint64_t now = bpf_runtime__now();
	int ms = (bpf_runtime__follows_all(r->bpf) ? HURRY_MS_ALL : HURRY_MS) << halvings;
	bool hurry = waits || now - r->mapped < HURRY;

	if (!hurry || loss_backoff__rages(&r->losses, now))
		return most;
	return ms < TICK_MS ? ms : TICK_MS;
}

int event_reader__patience_ms(struct event_reader *r, bool waits, uint32_t halvings)
{
	return patience_ms(r, waits, halvings, ALONE_MS);
}

int event_reader__tick_ms(struct event_reader *r, uint32_t halvings)
{
	return patience_ms(r, false, halvings, TICK_MS);
}

uint64_t event_reader__dropped(struct event_reader *r)
{
	GUARD(&r->lock);

	return reorder_buffer__dropped(r->fresh) + reorder_buffer__dropped(r->aside);
}
