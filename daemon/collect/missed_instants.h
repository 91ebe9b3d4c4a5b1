/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers for instants at which the host had stopped a processor. When the processor goes on, the kernel takes one
 * late sample for all timer instants that were missed. The thread in that sample was stopped in the midst of what it
 * is seen doing, so the sample also tells what the processor did at the missed instants. Pure.
 */
#ifndef QUARTZ_DAEMON_MISSED_INSTANTS_H
#define QUARTZ_DAEMON_MISSED_INSTANTS_H

#include <stdint.h>

#include "daemon/kernel/timer_phase.h"

/* A sample that comes this long after its instant is late: the host had stopped its processor; ns. */
#define LATE_SAMPLE 60000

struct timed_sample {
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	int64_t k;     /* of its instant, in its stream */
	uint32_t stream;
	uint32_t serial; /* of the thread */
};

struct missed_instant {
	int64_t k;
	uint32_t stream;
	uint32_t sample; /* that tells what the processor did */
};

struct missed_instants {
	struct missed_instant *list;
	uint32_t n;
};

/*
 * Adds those that n samples of one processor tell of, which are in the order of time and of which the first has this
 * number. Some may be of a time in which the thread did not run: only the level tells. 0 or -ENOMEM; the list is to be freed
 * in any case.
 */
int missed_instants__add(struct missed_instants *m, const struct timer_schedule *schedule,
			 const struct timed_sample *samples, uint32_t n, uint32_t first);

#endif
