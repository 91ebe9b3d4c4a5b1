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
#include "daemon/collect/module_rounds.h"

#define SECOND	    1000000000ull
#define MAX_PENDING 8192

struct module_rounds {
	int device;
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
		*aim = (struct aim) {.refs = 1};
	return aim;
}

static void drop_aim(struct aim *aim)
{
	if (aim && !--aim->refs)
		free(aim);
}

/* To look whether a process runs takes the kernel as long as to interrupt a processor. */
static bool are_many(const struct module_rounds *m, const struct aim *aim)
{
	return aim->npids > m->processors || aim->npids > QZ_TARGETS_MAX;
}

void module_rounds__aim(struct module_rounds *m, struct aim *aim)
{
	aim->every_processor = are_many(m, aim);
	pthread_mutex_lock(&m->lock);
	drop_aim(m->aim);
	m->aim = aim;
	pthread_mutex_unlock(&m->lock);
}

static struct aim *hold_aim(struct module_rounds *m)
{
	struct aim *aim;

	pthread_mutex_lock(&m->lock);
	aim = m->aim && m->aim->npids ? m->aim : NULL;
	if (aim)
		aim->refs++;
	pthread_mutex_unlock(&m->lock);
	return aim;
}

/* ---- the thread ---- */

/* Takes the aim over. */
static void keep(struct module_rounds *m, struct aim *aim, const struct qz_ioc_snapshot *s)
{
	size_t size = s->captured * sizeof(struct qz_capture);
	struct instant *instant = malloc(sizeof(*instant) + size);

	pthread_mutex_lock(&m->lock);
	if (!instant || m->pending >= MAX_PENDING) {
		m->figures.dropped++;
		drop_aim(aim);
		free(instant);
	} else {
		*instant = (struct instant) {.aim = aim,
					     .begun = s->begun,
					     .missed = s->missed,
					     .ncaptures = s->captured};
		memcpy(instant->captures, m->captures, size);
		*m->end = instant;
		m->end = &instant->next;
		m->pending++;
	}
	pthread_mutex_unlock(&m->lock);
}

static void fail(struct module_rounds *m, struct aim *aim)
{
	pthread_mutex_lock(&m->lock);
	m->figures.failed++;
	drop_aim(aim);
	pthread_mutex_unlock(&m->lock);
}

static void take_one(struct module_rounds *m, struct aim *aim)
{
	struct qz_ioc_snapshot s = {
		.size = sizeof(s),
		.flags = aim->every_processor ? QZ_SNAPSHOT_ALL : 0,
		.ntargets = aim->every_processor ? 0 : aim->npids,
		.room = m->processors,
		.targets = (uintptr_t)aim->pids,
		.captures = (uintptr_t)m->captures,
		.patience_ns = QZ_PATIENCE_MAX,
	};

	if (ioctl(m->device, QZ_IOC_SNAPSHOT, &s)) {
		fail(m, aim);
		return;
	}
	keep(m, aim, &s);
}

static void *work(void *argument)
{
	struct module_rounds *m = argument;
	uint64_t due = bpf_runtime__now();

	pthread_setname_np(pthread_self(), "quartzd-instant");
	prctl(PR_SET_TIMERSLACK, 1ul);
	while (!__atomic_load_n(&m->stop, __ATOMIC_ACQUIRE)) {
		struct aim *aim = hold_aim(m);
		struct timespec ts;
		uint64_t now;

		if (aim)
			take_one(m, aim);
		now = bpf_runtime__now();
		due += m->period_ns;
		if (due < now)
			due = now + m->period_ns; /* some are left out, none is made up for */
		ts = (struct timespec) {due / SECOND, due % SECOND};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
	return NULL;
}

/* ---- life ---- */

struct module_rounds *module_rounds__new(uint32_t rate, const struct bpf_runtime *bpf)
{
	struct module_rounds *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return NULL;
	m->period_ns = SECOND / rate;
	m->processors = bpf_runtime__processors(bpf);
	m->end = &m->first;
	pthread_mutex_init(&m->lock, NULL);
	m->captures = calloc(m->processors, sizeof(*m->captures));
	m->device = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	err = m->device < 0 ? errno : m->captures ? 0 : ENOMEM;
	if (!err)
		return m;
	module_rounds__free(m);
	errno = err;
	return NULL;
}

int module_rounds__start(struct module_rounds *m)
{
	int err = pthread_create(&m->thread, NULL, work, m);

	m->running = !err;
	return -err;
}

void module_rounds__stop(struct module_rounds *m)
{
	__atomic_store_n(&m->stop, true, __ATOMIC_RELEASE);
	if (m->running)
		pthread_join(m->thread, NULL);
	m->running = false;
}

void module_rounds__free(struct module_rounds *m)
{
	struct instant *instant;

	if (!m)
		return;
	module_rounds__stop(m);
	while ((instant = module_rounds__take(m, UINT64_MAX)))
		while (instant) {
			struct instant *next = instant->next;

			module_rounds__release(m, instant);
			instant = next;
		}
	drop_aim(m->aim);
	if (m->device >= 0)
		close(m->device);
	pthread_mutex_destroy(&m->lock);
	free(m->captures);
	free(m);
}

/* ---- taking ---- */

struct instant *module_rounds__take(struct module_rounds *m, uint64_t horizon)
{
	struct instant *first, **last;

	pthread_mutex_lock(&m->lock);
	first = m->first;
	for (last = &first; *last && (*last)->begun < horizon; last = &(*last)->next)
		m->pending--;
	m->first = *last;
	*last = NULL;
	if (!m->first)
		m->end = &m->first;
	pthread_mutex_unlock(&m->lock);
	return first;
}

void module_rounds__release(struct module_rounds *m, struct instant *instant)
{
	pthread_mutex_lock(&m->lock);
	drop_aim(instant->aim);
	pthread_mutex_unlock(&m->lock);
	free(instant);
}

void module_rounds__figures(struct module_rounds *m, struct module_rounds_figures *figures)
{
	pthread_mutex_lock(&m->lock);
	*figures = m->figures;
	pthread_mutex_unlock(&m->lock);
}
