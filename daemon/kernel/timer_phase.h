/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starts the timers of perf events in phase, so that all processors are sampled at the same instants.
 *
 * The kernel moves such a timer on by its period, so the phase that it was started with stays. It is started here
 * from a thread on its processor, with real-time priority where that is allowed, at a multiple of the period from one
 * origin. That thread reads the clock afterwards, and starts it again where something came in between, for a
 * twentieth of a second at most.
 */
#ifndef QUARTZ_DAEMON_TIMER_PHASE_H
#define QUARTZ_DAEMON_TIMER_PHASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_STREAMS 4 /* events of one processor */

/* When timers fire: at origin + k * period, for each stream. ns of CLOCK_MONOTONIC. */
struct timer_schedule {
	uint64_t origin[TIMER_STREAMS];
	uint64_t period[TIMER_STREAMS];
};

/* The events of one processor: descriptors. */
struct timer_group {
	uint32_t cpu;
	int fds[TIMER_STREAMS];
	bool enabled
		[TIMER_STREAMS]; /* else they are, and have the period that they were opened with */
	int err;		 /* result: 0 or -errno; 0 before */
	/* Of timer_phase__start. */
	const struct timer_schedule *schedule;
	pthread_t thread;
	bool has_thread;
};

/*
 * The periods of streams that together fire as often as one of `period` would. The lowest bits of a period are the number
 * of its stream.
 */
void timer_schedule__init(struct timer_schedule *s, uint64_t period);

/* Lets a schedule begin soon. */
void timer_schedule__begin(struct timer_schedule *s);

/*
 * Starts the timers of n groups, all at once, and returns when that is done. The schedule must have begun. Sets the
 * result of each group.
 */
void timer_phase__start(struct timer_group *groups, uint32_t n,
			const struct timer_schedule *schedule);

/*
 * The number k of the instant of a stream that a sample of that time is of. Timers come late, never early: where the host
 * had taken the processor away, what it did then is what it did at the instant.
 */
int64_t timer_schedule__round(const struct timer_schedule *s, uint32_t stream, uint64_t time);

/* That instant. */
uint64_t timer_schedule__instant(const struct timer_schedule *s, uint32_t stream, int64_t k);

/* The number of that instant among those of all streams, which are counted in the order of time. */
int64_t timer_schedule__number(const struct timer_schedule *s, uint32_t stream, int64_t k);

/* The first time from one on that is well between two instants: no round is under way then. */
uint64_t timer_schedule__between(const struct timer_schedule *s, uint64_t time);

#endif
