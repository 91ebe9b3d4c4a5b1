// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/module_rounds.h"

#define SECOND	    1000000000ull
#define MAX_PENDING 8192

struct module_rounds {
	int device;
	const struct bpf_runtime *bpf;
	uint32_t period_ns, processors;
	struct qz_capture *captures; /* of the call in progress */
	pthread_t thread;
	bool running, stop;

	pthread_mutex_t lock; /* guards all below */
	struct aim *aim;      /* NULL: no processes */
	struct instant *first, **end;
	uint32_t pending;
	struct module_rounds_figures figures;
};

/* ---- aims ---- */

struct aim *aim__new(uint32_t pids)
{
	struct aim *aim = calloc(1, sizeof(*aim) + pids * sizeof(*aim->pids));

	if (aim)
		*aim = (struct aim) {.refs = 1, .scope = QZ_NO_SCOPE};
	return aim;
}

static void drop_aim(struct aim *aim)
{
	if (aim && !--aim->refs)
		free(aim);
}

/* To look whether a process runs takes the kernel as long as to interrupt a processor. */
static bool are_many(const struct module_rounds *i, const struct aim *aim)
{
	return aim->npids > i->processors || aim->npids > QZ_TARGETS_MAX;
}

void module_rounds__aim(struct module_rounds *i, struct aim *aim)
{
	aim->everybody = are_many(i, aim);
	pthread_mutex_lock(&i->lock);
	drop_aim(i->aim);
	i->aim = aim;
	pthread_mutex_unlock(&i->lock);
}

static struct aim *hold_aim(struct module_rounds *i)
{
	struct aim *aim;

	pthread_mutex_lock(&i->lock);
	aim = i->aim && i->aim->npids ? i->aim : NULL;
	if (aim)
		aim->refs++;
	pthread_mutex_unlock(&i->lock);
	return aim;
}

/* ---- the thread ---- */

/* Takes the aim over. */
static void keep(struct module_rounds *i, struct aim *aim, const struct qz_ioc_snapshot *s,
		 uint32_t level)
{
	size_t size = s->captured * sizeof(struct qz_capture);
	struct instant *instant = malloc(sizeof(*instant) + size);

	pthread_mutex_lock(&i->lock);
	if (!instant || i->pending >= MAX_PENDING) {
		i->figures.dropped++;
		drop_aim(aim);
		free(instant);
	} else {
		*instant = (struct instant) {.aim = aim,
					     .begun = s->begun,
					     .missed = s->missed,
					     .level = level,
					     .ncaptures = s->captured};
		memcpy(instant->captures, i->captures, size);
		*i->end = instant;
		i->end = &instant->next;
		i->pending++;
	}
	pthread_mutex_unlock(&i->lock);
}

static void fail(struct module_rounds *i, struct aim *aim)
{
	pthread_mutex_lock(&i->lock);
	i->figures.failed++;
	drop_aim(aim);
	pthread_mutex_unlock(&i->lock);
}

/* The word that has the level of the aim's only scope. */
static uint64_t running_word(const struct module_rounds *i, const struct aim *aim)
{
	return aim->scope == QZ_NO_SCOPE ? 0 : bpf_scopes__running(i->bpf, aim->scope);
}

static void take_one(struct module_rounds *i, struct aim *aim)
{
	struct qz_ioc_snapshot s = {
		.size = sizeof(s),
		.flags = aim->everybody ? QZ_SNAPSHOT_ALL : 0,
		.ntargets = aim->everybody ? 0 : aim->npids,
		.room = i->processors,
		.targets = (uintptr_t)aim->pids,
		.captures = (uintptr_t)i->captures,
		.patience_ns = QZ_PATIENCE_MAX,
	};
	uint64_t running = running_word(i, aim);

	if (ioctl(i->device, QZ_IOC_SNAPSHOT, &s)) {
		fail(i, aim);
		return;
	}
	if (!running || running_word(i, aim) != running)
		keep(i, aim, &s, LEVEL_UNKNOWN);
	else
		keep(i, aim, &s, running & QZ_LEVEL_MASK);
}

static void *work(void *argument)
{
	struct module_rounds *i = argument;
	uint64_t due = bpf_runtime__now();

	pthread_setname_np(pthread_self(), "quartzd-instant");
	prctl(PR_SET_TIMERSLACK, 1ul);
	while (!__atomic_load_n(&i->stop, __ATOMIC_ACQUIRE)) {
		struct aim *aim = hold_aim(i);
		struct timespec ts;
		uint64_t now;

		if (aim)
			take_one(i, aim);
		now = bpf_runtime__now();
		due += i->period_ns;
		if (due < now)
			due = now + i->period_ns; /* some are left out, none is made up for */
		ts = (struct timespec) {due / SECOND, due % SECOND};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
	return NULL;
}

/* ---- life ---- */

struct module_rounds *module_rounds__new(uint32_t rate, const struct bpf_runtime *bpf)
{
	struct module_rounds *i = calloc(1, sizeof(*i));
	int err;

	if (!i)
		return NULL;
	i->period_ns = SECOND / rate;
	i->bpf = bpf;
	i->processors = bpf_runtime__processors(bpf);
	i->end = &i->first;
	pthread_mutex_init(&i->lock, NULL);
	i->captures = calloc(i->processors, sizeof(*i->captures));
	i->device = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	err = i->device < 0 ? errno : i->captures ? 0 : ENOMEM;
	if (!err)
		return i;
	module_rounds__free(i);
	errno = err;
	return NULL;
}

int module_rounds__start(struct module_rounds *i)
{
	int err = pthread_create(&i->thread, NULL, work, i);

	i->running = !err;
	return -err;
}

void module_rounds__stop(struct module_rounds *i)
{
	__atomic_store_n(&i->stop, true, __ATOMIC_RELEASE);
	if (i->running)
		pthread_join(i->thread, NULL);
	i->running = false;
}

void module_rounds__free(struct module_rounds *i)
{
	struct instant *instant;

	if (!i)
		return;
	module_rounds__stop(i);
	while ((instant = module_rounds__take(i, UINT64_MAX)))
		while (instant) {
			struct instant *next = instant->next;

			module_rounds__release(i, instant);
			instant = next;
		}
	drop_aim(i->aim);
	if (i->device >= 0)
		close(i->device);
	pthread_mutex_destroy(&i->lock);
	free(i->captures);
	free(i);
}

/* ---- taking ---- */

struct instant *module_rounds__take(struct module_rounds *i, uint64_t horizon)
{
	struct instant *first, **last;

	pthread_mutex_lock(&i->lock);
	first = i->first;
	for (last = &first; *last && (*last)->begun < horizon; last = &(*last)->next)
		i->pending--;
	i->first = *last;
	*last = NULL;
	if (!i->first)
		i->end = &i->first;
	pthread_mutex_unlock(&i->lock);
	return first;
}

void module_rounds__release(struct module_rounds *i, struct instant *instant)
{
	pthread_mutex_lock(&i->lock);
	drop_aim(instant->aim);
	pthread_mutex_unlock(&i->lock);
	free(instant);
}

void module_rounds__figures(struct module_rounds *i, struct module_rounds_figures *figures)
{
	pthread_mutex_lock(&i->lock);
	*figures = i->figures;
	pthread_mutex_unlock(&i->lock);
}
