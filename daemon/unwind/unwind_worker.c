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
					 struct address_spaces *spaces, struct modules *modules)
{
	struct unwind_worker *b = calloc(1, sizeof(*b));
	struct symbolizer_options options = {0};
	pthread_condattr_t clock;
	int err;

	if (!b)
		return NULL;
	b->bpf = bpf;
	b->reader = reader;
	b->spaces = spaces;
	b->modules = modules;
	b->order.fd = -1;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&b->done, &clock);
	pthread_condattr_destroy(&clock);
	b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = b->wake < 0 ? errno : ENOMEM;
	b->symbolizer = symbolizer__new(&options);
	b->tables = b->symbolizer ? unwind_tables__new(bpf, b->symbolizer, modules, spaces) : NULL;
	if (b->wake >= 0 && b->tables)
		return b;
	unwind_worker__free(b);
	errno = err;
	return NULL;
}

void unwind_worker__free(struct unwind_worker *b)
{
	if (!b)
		return;
	unwind_worker__stop(b);
	unwind_tables__free(b->tables);
	symbolizer__free(b->symbolizer);
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

/* Publishes what has changed since the last look. */
static void publish_changes(struct unwind_worker *b)
{
	uint64_t known = event_reader__read(b->reader);
	uint64_t changes = address_spaces__changes(b->spaces);

	if (event_reader__met_unknown_code(b->reader))
		unwind_tables__look(b->tables);
	if (changes != b->changes || unwind_tables__waits(b->tables))
		unwind_tables__publish(b->tables, known);
	b->changes = changes;
}

static void tell_figures(struct unwind_worker *b)
{
	const struct symbolizer_counters *c = symbolizer__counters(b->symbolizer);
	GUARD(&b->lock);

	b->figures = (struct unwind_worker_figures) {
		.full = unwind_tables__full(b->tables),
		.killed = c->killed,
		.ended = c->crashed,
		.waiting = symbolizer__waiting(b->symbolizer),
		.refused = c->modules_refused,
		.child_ns = symbolizer__cpu_ns(b->symbolizer),
	};
}

/* The number of the order that stands, whose file is taken. */
static uint64_t read_order(struct unwind_worker *b)
{
	struct order order;

	pthread_mutex_lock(&b->lock);
	order = b->order;
	b->order.fd = -1;
	b->order.path = NULL;
	pthread_mutex_unlock(&b->lock);
	if (order.fd >= 0)
		unwind_tables__build_module(b->tables,
					    modules__of_file(b->modules, order.fd, order.path));
	free(order.path);
	return order.asked;
}

static void fulfil(struct unwind_worker *b, uint64_t asked)
{
	GUARD(&b->lock);

	b->order.done = asked;
	pthread_cond_signal(&b->done);
}

static bool is_stopped(const struct unwind_worker *b)
{
	return __atomic_load_n(&b->stop, __ATOMIC_ACQUIRE);
}

/*
 * Until a report, an order, or the time of the next look at the rings of what is mapped. Where the governor has
 * lowered the rates, reports wait for that look, too: each would wake the thread.
 */
static void await(struct unwind_worker *b)
{
	uint32_t halvings = __atomic_load_n(&b->halvings, __ATOMIC_RELAXED);
	int ms = event_reader__patience_ms(b->reader, unwind_tables__waits(b->tables), halvings);
	struct pollfd fds[] = {
		{.fd = halvings ? -1 : bpf_runtime__event_fd(b->bpf), .events = POLLIN},
		{.fd = b->wake, .events = POLLIN},
	};
	uint64_t woken;

	poll(fds, sizeof(fds) / sizeof(fds[0]), ms);
	eventfd_read(b->wake, &woken);
}

static void *follow(void *argument)
{
	struct unwind_worker *b = argument;

	pthread_setname_np(pthread_self(), "quartzd-tables");
	while (!is_stopped(b)) {
		uint64_t asked = read_order(b);

		unwind_tables__retry(b->tables);
		do
			publish_changes(b);
		while (unwind_tables__build(b->tables) && !is_stopped(b));
		tell_figures(b);
		fulfil(b, asked);
		await(b);
	}
	return NULL;
}

/* ---- the main thread ---- */

int unwind_worker__start(struct unwind_worker *b)
{
	int err;

	err = pthread_create(&b->thread, NULL, follow, b);
	b->started = !err;
	return -err;
}

void unwind_worker__stop(struct unwind_worker *b)
{
	if (!b->started)
		return;
	__atomic_store_n(&b->stop, true, __ATOMIC_RELEASE);
	eventfd_write(b->wake, 1);
	pthread_join(b->thread, NULL);
	b->started = false;
}

static void order(struct unwind_worker *b, int fd, const char *path)
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

void unwind_worker__prepare(struct unwind_worker *b, int fd, const char *path)
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

void unwind_worker__set_halvings(struct unwind_worker *b, uint32_t halvings)
{
	__atomic_store_n(&b->halvings, halvings, __ATOMIC_RELAXED);
}

void unwind_worker__wake(struct unwind_worker *b)
{
	eventfd_write(b->wake, 1);
}

struct unwind_worker_figures unwind_worker__figures(struct unwind_worker *b)
{
	GUARD(&b->lock);

	return b->figures;
}
