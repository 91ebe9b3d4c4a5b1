/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers for instants at which the host had stopped a processor. When the processor goes on, the kernel takes one
 * late sample for all timer instants that were missed. The thread in that sample was stopped in the middle of what the
 * sample shows, so the sample also answers for the missed instants. Pure.
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
	uint32_t sample; /* that shows what the processor did */
};

struct missed_instants {
	struct missed_instant *list;
	uint32_t n;
};

/*
 * Adds the instants for which n samples of one processor answer; the samples are in the order of time, the first has the
 * number `first`. Some instants may be at a time when the thread did not run: only the level shows that. 0 or -ENOMEM; the
 * list must be freed in any case.
 */
int missed_instants__add(struct missed_instants *m, const struct timer_schedule *schedule,
			 const struct timed_sample *samples, uint32_t n, uint32_t first);

#endif
