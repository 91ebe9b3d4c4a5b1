// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/unwind/unwind_worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/symbolizer/symbolizer.h"
#include "daemon/unwind/unwind_tables.h"
#include "daemon/util/guard.h"

#define PATIENCE 2 /* s, for the tables of what is about to run */

/* What the main thread asks for; owned by whoever holds the lock. */
struct order {
	uint64_t asked, done; /* numbers of calls of unwind_worker__prepare() */
	int fd;		      /* -1: none */
	char *path;
};

struct unwind_worker {
	struct bpf_runtime *bpf;
	struct event_reader *reader;
	struct address_spaces *spaces;
	struct modules *modules;

	/* of the thread alone, from start to stop */
	struct symbolizer *symbolizer;
	struct unwind_tables *tables;
	uint64_t changes; /* of the address spaces, at the last look */

	/* shared */
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct order order;
	struct unwind_worker_figures figures; /* with the lock */
	uint32_t halvings;		      /* atomic */
	int wake;
	bool stop; /* atomic */

	bool started;
	pthread_t thread;
};

struct unwind_worker *unwind_worker__new(struct bpf_runtime *bpf, struct event_reader *reader,
					 struct address_spaces *spaces, struct modules *modules,
					 struct table_cache *kept)
{
	struct unwind_worker *worker = calloc(1, sizeof(*worker));
	struct symbolizer_options options = {.tables = kept};
	pthread_condattr_t clock;
	int err;

	if (!worker)
		return NULL;
	worker->bpf = bpf;
	worker->reader = reader;
	worker->spaces = spaces;
	worker->modules = modules;
	worker->order.fd = -1;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->done, &clock);
	pthread_condattr_destroy(&clock);
	worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = worker->wake < 0 ? errno : ENOMEM;
	worker->symbolizer = symbolizer__new(&options);
	worker->tables = worker->symbolizer
				 ? unwind_tables__new(bpf, worker->symbolizer, modules, spaces)
				 : NULL;
	if (worker->wake >= 0 && worker->tables)
		return worker;
	unwind_worker__free(worker);
	errno = err;
	return NULL;
}

void unwind_worker__free(struct unwind_worker *worker)
{
	if (!worker)
		return;
	unwind_worker__stop(worker);
	unwind_tables__free(worker->tables);
	symbolizer__free(worker->symbolizer);
	if (worker->order.fd >= 0)
		close(worker->order.fd);
	free(worker->order.path);
	if (worker->wake >= 0)
		close(worker->wake);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

/* ---- the thread ---- */

/* Publishes what has changed since the last look. */
static void publish_changes(struct unwind_worker *worker)
{
	uint64_t known = event_reader__read(worker->reader);
	uint64_t changes = address_spaces__changes(worker->spaces);

	if (event_reader__met_unknown_code(worker->reader))
		unwind_tables__look(worker->tables);
	if (changes != worker->changes || unwind_tables__waits(worker->tables))
		unwind_tables__publish(worker->tables, known);
	worker->changes = changes;
}

static void publish_figures(struct unwind_worker *worker)
{
	const struct symbolizer_counters *c = symbolizer__counters(worker->symbolizer);
	GUARD(&worker->lock);

	worker->figures = (struct unwind_worker_figures) {
		.full = unwind_tables__full(worker->tables),
		.killed = c->killed,
		.ended = c->crashed,
		.waiting = symbolizer__waiting(worker->symbolizer),
		.refused = c->modules_refused,
		.child_ns = symbolizer__cpu_ns(worker->symbolizer),
	};
}

/* The number of the present order; takes its file. */
static uint64_t read_order(struct unwind_worker *worker)
{
	struct order order;

	pthread_mutex_lock(&worker->lock);
	order = worker->order;
	worker->order.fd = -1;
	worker->order.path = NULL;
	pthread_mutex_unlock(&worker->lock);
	if (order.fd >= 0)
		unwind_tables__build_module(worker->tables, modules__of_file(worker->modules,
									     order.fd, order.path));
	free(order.path);
	return order.asked;
}

static void fulfil(struct unwind_worker *worker, uint64_t asked)
{
	GUARD(&worker->lock);

	worker->order.done = asked;
	pthread_cond_signal(&worker->done);
}

static bool is_stopped(const struct unwind_worker *worker)
{
	return __atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE);
}

/*
 * Until a report, an order, or the time at which the rings of mappings are read next. Where the governor has lowered the
 * rates, reports wait for that time, too: each would wake the thread.
 */
static void await(struct unwind_worker *worker)
{
	uint32_t halvings = __atomic_load_n(&worker->halvings, __ATOMIC_RELAXED);
	int ms = event_reader__patience_ms(worker->reader, unwind_tables__waits(worker->tables),
					   halvings);
	struct pollfd fds[] = {
		{.fd = halvings ? -1 : bpf_runtime__event_fd(worker->bpf), .events = POLLIN},
		{.fd = worker->wake, .events = POLLIN},
	};
	uint64_t woken;

	poll(fds, sizeof(fds) / sizeof(fds[0]), ms);
	eventfd_read(worker->wake, &woken);
}

static void *follow(void *argument)
{
	struct unwind_worker *worker = argument;

	pthread_setname_np(pthread_self(), "quartzd-tables");
	while (!is_stopped(worker)) {
		uint64_t asked = read_order(worker);

		unwind_tables__retry(worker->tables);
		do
			publish_changes(worker);
		while (unwind_tables__build(worker->tables) && !is_stopped(worker));
		publish_figures(worker);
		fulfil(worker, asked);
		await(worker);
	}
	return NULL;
}

/* ---- the main thread ---- */

void unwind_worker__start_ahead(struct unwind_worker *worker, int fd)
{
	symbolizer__start_ahead(worker->symbolizer, fd);
}

int unwind_worker__start(struct unwind_worker *worker)
{
	int err;

	err = pthread_create(&worker->thread, NULL, follow, worker);
	worker->started = !err;
	return -err;
}

void unwind_worker__stop(struct unwind_worker *worker)
{
	if (!worker->started)
		return;
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELEASE);
	eventfd_write(worker->wake, 1);
	pthread_join(worker->thread, NULL);
	worker->started = false;
}

static void order(struct unwind_worker *worker, int fd, const char *path)
{
	worker->order.asked++;
	if (fd < 0)
		return;
	if (worker->order.fd >= 0)
		close(worker->order.fd);
	free(worker->order.path);
	worker->order.fd = fd;
	worker->order.path = strdup(path);
	if (worker->order.path)
		return;
	close(fd);
	worker->order.fd = -1;
}

void unwind_worker__prepare(struct unwind_worker *worker, int fd, const char *path)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&worker->lock);
	order(worker, fd, path);
	eventfd_write(worker->wake, 1);
	while (!err && worker->started && worker->order.done < worker->order.asked)
		err = pthread_cond_timedwait(&worker->done, &worker->lock, &until);
	pthread_mutex_unlock(&worker->lock);
}

void unwind_worker__set_halvings(struct unwind_worker *worker, uint32_t halvings)
{
	__atomic_store_n(&worker->halvings, halvings, __ATOMIC_RELAXED);
}

void unwind_worker__wake(struct unwind_worker *worker)
{
	eventfd_write(worker->wake, 1);
}

struct unwind_worker_figures unwind_worker__figures(struct unwind_worker *worker)
{
	GUARD(&worker->lock);

	return worker->figures;
}
