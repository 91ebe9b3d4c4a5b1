// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include "core/util/clock.h"
#include "daemon/kernel/timer_phase.h"

#define MARGIN                                                                                     \
	1500000ull /* ns until a schedule begins: threads have come to their processors by then */
#define SPREAD                                                                                     \
	40000ull /* between the origins of streams: one processor starts its timers in turn */
#define AWAKE	    60000ull	/* before the instant: a sleep ends late */
#define TOLERANCE   12000ull	/* by which a timer may be off at first */
#define PATIENCE    50000000ull /* from the beginning to the last try */
#define PRIORITY    1
#define ROUND_TAKES 60000 /* ns, around its instant */
#define STACK_BYTES (64u << 10)

/*
 * Shares of the rate, in thousandths. A program whose period is in resonance with one stream is not with the
 * others, and the instants of all streams together have no period that a run would see again. Each
 * period is far from the common ones.
 */
static const uint32_t shares[TIMER_STREAMS] = {289, 263, 237, 211};

void timer_schedule__init(struct timer_schedule *s, uint64_t period)
{
	*s = (struct timer_schedule) {0};
	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		s->period[i] = (period * 1000 / shares[i] & ~(uint64_t)(TIMER_STREAMS - 1)) | i;
}

void timer_schedule__begin(struct timer_schedule *s)
{
	uint64_t first = qz_clock__now() + MARGIN;

	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		s->origin[i] = first + i * SPREAD;
}

int64_t timer_schedule__round(const struct timer_schedule *s, uint32_t stream, uint64_t time)
{
	int64_t since = (int64_t)(time - s->origin[stream]), period = (int64_t)s->period[stream];

	since += ROUND_TAKES;
	return since / period - (since % period < 0);
}

uint64_t timer_schedule__instant(const struct timer_schedule *s, uint32_t stream, int64_t k)
{
	return s->origin[stream] + (uint64_t)k * s->period[stream];
}

int64_t timer_schedule__number(const struct timer_schedule *s, uint32_t stream, int64_t k)
{
	uint64_t at = timer_schedule__instant(s, stream, k) - ROUND_TAKES;
	int64_t number = k;

	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		if (i != stream)
			number += timer_schedule__round(s, i, i < stream ? at : at - 1);
	return number;
}

uint64_t timer_schedule__between(const struct timer_schedule *s, uint64_t time)
{
	for (uint32_t i = 0, far = 0; far < TIMER_STREAMS; i = (i + 1) % TIMER_STREAMS) {
		int64_t k = timer_schedule__round(s, i, time);
		int64_t from = (int64_t)(time - timer_schedule__instant(s, i, k));

		if (from < -ROUND_TAKES || from > ROUND_TAKES) {
			far++;
			continue;
		}
		time += (uint64_t)(ROUND_TAKES + 1 - from);
		far = 0;
	}
	return time;
}

/* The next instant that there is time to wait for. */
static uint64_t next_instant(const struct timer_schedule *s, uint32_t stream)
{
	uint64_t soon = qz_clock__now() + AWAKE, at = s->origin[stream];

	return soon > at ? at + ((soon - at) / s->period[stream] + 1) * s->period[stream] : at;
}

static void wait_until(uint64_t at)
{
	struct timespec t = {(time_t)((at - AWAKE) / 1000000000),
			     (long)((at - AWAKE) % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	while (qz_clock__now() < at)
		;
}

/*
 * Setting a period restarts the timer with a whole one, where enabling it again would go on with the rest. Returns by how
 * much it came late.
 */
static uint64_t start_timer(struct timer_group *g, uint32_t stream, uint64_t period, uint64_t at)
{
	int result = g->enabled[stream] ? ioctl(g->fds[stream], PERF_EVENT_IOC_PERIOD, &period)
					: ioctl(g->fds[stream], PERF_EVENT_IOC_ENABLE, 0);

	if (result)
		g->err = -errno;
	g->enabled[stream] = true;
	return qz_clock__now() - at;
}

/* On a machine where something always comes in between, what is less good is good enough with each try. */
static void start_stream(const struct timer_schedule *s, struct timer_group *g, uint32_t stream)
{
	uint64_t until = s->origin[0] + PATIENCE * (stream + 1) / TIMER_STREAMS;
	uint64_t at = next_instant(s, stream);

	for (uint64_t may = TOLERANCE;; may *= 2) {
		wait_until(at);
		if (start_timer(g, stream, s->period[stream], at) <= may || g->err)
			return;
		at = next_instant(s, stream);
		if (at > until)
			return;
	}
}

static void *start_group(void *context)
{
	struct timer_group *g = context;
	struct sched_param priority = {.sched_priority = PRIORITY};
	cpu_set_t own;

	/* where neither is allowed, timers are started from where this is, and may be off */
	CPU_ZERO(&own);
	CPU_SET(g->cpu, &own);
	sched_setaffinity(0, sizeof(own), &own);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
	for (uint32_t i = 0; !g->err && i < TIMER_STREAMS; i++)
		start_stream(g->schedule, g, i);
	return NULL;
}

void timer_phase__start(struct timer_group *groups, uint32_t n,
			const struct timer_schedule *schedule)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		struct timer_group *g = &groups[i];

		g->schedule = schedule;
		g->has_thread = !pthread_create(&g->thread, &attr, start_group, g);
		for (uint32_t k = 0; !g->has_thread && !g->err && k < TIMER_STREAMS; k++)
			start_timer(g, k, schedule->period[k], 0);
	}
	for (uint32_t i = 0; i < n; i++)
		if (groups[i].has_thread)
			pthread_join(groups[i].thread, NULL);
	pthread_attr_destroy(&attr);
}
