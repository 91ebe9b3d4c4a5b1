// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/builder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/images.h"
#include "daemon/modules.h"
#include "daemon/reports.h"
#include "daemon/storm.h"
#include "daemon/symbolizer.h"
#include "daemon/tables.h"

#define TICK_MS	   100
#define HURRY_MS   5
#define HURRY	   50000000ull /* after a report: more are coming */
#define PATIENCE   2	       /* s, for the tables of what is about to run */
#define MAX_MISSED 64	       /* images at a time; what is found missing there is found again */

/* What the main thread asks for; owned by whoever holds the lock. */
struct order {
	uint64_t asked, done; /* numbers of calls of builder__prepare() */
	int fd;		      /* -1: none */
	char *path;
	uint32_t missed[MAX_MISSED], nmissed;
};

struct builder {
	struct engine *engine;
	struct intake *intake;

	/* of the thread alone, from start to stop */
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct images *images;
	struct tables *tables;
	struct reports *reports;
	uint64_t mapped; /* when anything was last mapped, forked or executed */
	struct storm storm;

	/* shared */
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct order order;
	uint64_t named;			/* atomic */
	uint32_t halvings;		/* atomic */
	struct builder_figures figures; /* atomic, each */
	int wake;
	bool stop; /* atomic */

	bool started;
	pthread_t thread;
};

struct builder *builder__new(struct engine *engine, struct intake *intake)
{
	struct builder *b = calloc(1, sizeof(*b));
	struct symbolizer_options options = {0};
	pthread_condattr_t clock;

	if (!b)
		return NULL;
	b->engine = engine;
	b->intake = intake;
	b->order.fd = -1;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&b->done, &clock);
	pthread_condattr_destroy(&clock);
	b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->reports = reports__new();
	b->symbolizer = symbolizer__new(&options);
	b->modules = b->symbolizer ? modules__new(b->symbolizer, false) : NULL;
	b->images = b->modules ? images__new(b->modules) : NULL;
	b->tables = b->images ? tables__new(engine, b->symbolizer, b->modules, b->images) : NULL;
	if (b->wake >= 0 && b->reports && b->tables)
		return b;
	builder__free(b);
	errno = ENOMEM;
	return NULL;
}

void builder__free(struct builder *b)
{
	if (!b)
		return;
	builder__stop(b);
	tables__free(b->tables);
	images__free(b->images);
	modules__free(b->modules);
	symbolizer__free(b->symbolizer);
	reports__free(b->reports);
	if (b->order.fd >= 0)
		close(b->order.fd);
	free(b->order.path);
	if (b->wake >= 0)
		close(b->wake);
	pthread_cond_destroy(&b->done);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* ---- the thread ---- */

/* It may have been without a thread for a moment, when its threads were being found. */
static void end_scope(struct builder *b, const struct qz_scope_event *e)
{
	if (e->event.length >= sizeof(*e) &&
	    !engine__scope_lives(b->engine, e->scope, e->event.time))
		images__end(b->images, e->scope, e->event.time);
}

static bool take_report(void *context, const struct report *report)
{
	struct builder *b = context;

	if (report->is_mapping) {
		if (images__replaces(b->images, &report->mapping))
			tables__replaced(b->tables, report->mapping.pid, report->mapping.time);
		images__mapping(b->images, &report->mapping);
	} else if (report->event->type == QZ_EVENT_SCOPE_END) {
		end_scope(b, (const struct qz_scope_event *)report->event);
	} else if (report->event->length >= sizeof(struct qz_process_event)) {
		images__process(b->images, (const struct qz_process_event *)report->event);
	}
	return true;
}

/* What is mapped, by the images that the main thread had to read anew, where nothing is known. */
static bool complete_images(struct builder *b)
{
	uint32_t missed[MAX_MISSED], n;

	pthread_mutex_lock(&b->lock);
	n = b->order.nmissed;
	memcpy(missed, b->order.missed, n * sizeof(*missed));
	b->order.nmissed = 0;
	pthread_mutex_unlock(&b->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct image *image = images__get(b->images, missed[i]);

		if (!image || image->ended)
			continue;
		image->reread = false;
		images__find(b->images, image, 0); /* that is nowhere */
	}
	return n > 0;
}

/* After a loss, what all have mapped. */
static bool read_again(struct builder *b, bool lost)
{
	uint64_t now = engine__now();

	if (lost)
		storm__lost(&b->storm, now);
	if (!storm__wants_reading(&b->storm, now))
		return false;
	images__distrust(b->images);
	return true;
}

/* Takes in what was reported and publishes it. */
static void take_in(struct builder *b)
{
	uint64_t named = __atomic_load_n(&b->named, __ATOMIC_ACQUIRE);
	struct intake_news news;
	uint64_t known = intake__take(b->intake, INTAKE_TABLES, b->reports, &news);
	bool changed = complete_images(b) || news.mapped;

	if (news.mapped > b->mapped)
		b->mapped = news.mapped;
	if (news.unknown_code)
		tables__look(b->tables);
	changed |= read_again(b, news.lost);
	changed |= reports__process(b->reports, &known, take_report, b) > 0;
	if (changed || tables__waits(b->tables))
		tables__publish(b->tables, known, named);
}

static void tell_figures(struct builder *b)
{
	const struct symbolizer_counters *c = symbolizer__counters(b->symbolizer);

	__atomic_store_n(&b->figures.full, tables__full(b->tables), __ATOMIC_RELAXED);
	__atomic_store_n(&b->figures.killed, c->killed, __ATOMIC_RELAXED);
	__atomic_store_n(&b->figures.refused, c->modules_refused, __ATOMIC_RELAXED);
	__atomic_store_n(&b->figures.child_ns, symbolizer__cpu_ns(b->symbolizer), __ATOMIC_RELAXED);
}

/* The number of the order that stands, whose file is taken. */
static uint64_t look_at_order(struct builder *b)
{
	uint64_t asked;
	char *path;
	int fd;

	pthread_mutex_lock(&b->lock);
	asked = b->order.asked;
	fd = b->order.fd;
	path = b->order.path;
	b->order.fd = -1;
	b->order.path = NULL;
	pthread_mutex_unlock(&b->lock);
	if (fd >= 0)
		tables__build_module(b->tables, modules__of_file(b->modules, fd, path));
	free(path);
	return asked;
}

static void fulfil(struct builder *b, uint64_t asked)
{
	pthread_mutex_lock(&b->lock);
	b->order.done = asked;
	pthread_cond_signal(&b->done);
	pthread_mutex_unlock(&b->lock);
}

static bool is_stopped(const struct builder *b)
{
	return __atomic_load_n(&b->stop, __ATOMIC_ACQUIRE);
}

/*
 * Until a report, an order, or the time of the next look at the rings of what is mapped. Where the governor has
 * lowered the rates, reports wait for that look, too: each would wake the thread.
 */
static void await(struct builder *b)
{
	uint64_t now = engine__now();
	uint32_t halvings = __atomic_load_n(&b->halvings, __ATOMIC_RELAXED);
	bool hurry = !storm__rages(&b->storm, now) &&
		     (tables__waits(b->tables) || now - b->mapped < HURRY);
	struct pollfd fds[] = {
		{.fd = halvings ? -1 : engine__event_fd(b->engine), .events = POLLIN},
		{.fd = b->wake, .events = POLLIN},
	};
	int ms = hurry ? HURRY_MS << halvings : TICK_MS;
	uint64_t woken;

	poll(fds, sizeof(fds) / sizeof(fds[0]), ms < TICK_MS ? ms : TICK_MS);
	eventfd_read(b->wake, &woken);
}

static void *follow(void *argument)
{
	struct builder *b = argument;

	pthread_setname_np(pthread_self(), "quartzd-tables");
	while (!is_stopped(b)) {
		uint64_t asked = look_at_order(b);

		do
			take_in(b);
		while (tables__build(b->tables) && !is_stopped(b));
		tell_figures(b);
		fulfil(b, asked);
		await(b);
	}
	return NULL;
}

/* ---- the main thread ---- */

int builder__start(struct builder *b)
{
	int err;

	intake__open(b->intake);
	err = pthread_create(&b->thread, NULL, follow, b);
	b->started = !err;
	return -err;
}

void builder__stop(struct builder *b)
{
	if (!b->started)
		return;
	__atomic_store_n(&b->stop, true, __ATOMIC_RELEASE);
	eventfd_write(b->wake, 1);
	pthread_join(b->thread, NULL);
	b->started = false;
	intake__close(b->intake);
}

static void order(struct builder *b, int fd, const char *path)
{
	b->order.asked++;
	if (fd < 0)
		return;
	if (b->order.fd >= 0)
		close(b->order.fd);
	free(b->order.path);
	b->order.fd = fd;
	b->order.path = strdup(path);
	if (b->order.path)
		return;
	close(fd);
	b->order.fd = -1;
}

void builder__prepare(struct builder *b, int fd, const char *path)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&b->lock);
	order(b, fd, path);
	eventfd_write(b->wake, 1);
	while (!err && b->started && b->order.done < b->order.asked)
		err = pthread_cond_timedwait(&b->done, &b->lock, &until);
	pthread_mutex_unlock(&b->lock);
}

void builder__named(struct builder *b, uint64_t until)
{
	__atomic_store_n(&b->named, until, __ATOMIC_RELEASE);
}

void builder__set_halvings(struct builder *b, uint32_t halvings)
{
	__atomic_store_n(&b->halvings, halvings, __ATOMIC_RELAXED);
}

void builder__complete(struct builder *b, uint32_t image)
{
	pthread_mutex_lock(&b->lock);
	if (b->order.nmissed < MAX_MISSED)
		b->order.missed[b->order.nmissed++] = image;
	pthread_mutex_unlock(&b->lock);
	eventfd_write(b->wake, 1);
}

void builder__figures(const struct builder *b, struct builder_figures *figures)
{
	figures->full = __atomic_load_n(&b->figures.full, __ATOMIC_RELAXED);
	figures->killed = __atomic_load_n(&b->figures.killed, __ATOMIC_RELAXED);
	figures->refused = __atomic_load_n(&b->figures.refused, __ATOMIC_RELAXED);
	figures->child_ns = __atomic_load_n(&b->figures.child_ns, __ATOMIC_RELAXED);
}
