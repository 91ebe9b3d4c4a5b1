/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of one scope: the figures of each slot (core/model/timeline.h).
 *
 * Level times and the times of threads are exact. In each slot, a group of samples has the same share of its normalized and
 * processor time as of its samples, so the slots add up to the report; time without a sample is divided by the time at its
 * level. How many of the running processors were busy in a slot is estimated from the samples of that slot and level, else
 * by those of the run.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_SLOTS_H
#define QUARTZ_CORE_SLOTS_H

#include "core/report/report.h"

struct qz_slot_sample {
	uint32_t sample; /* group of the profile */
	uint64_t norm_ns, cpu_ns;
};

struct qz_slot_wait {
	uint32_t wait; /* group of the profile */
	uint64_t blocked_ns, ready_ns;
};

struct qz_slot_figures {
	uint64_t elapsed_ns; /* in which the scope was measured: all level times */
	uint64_t *level_ns;  /* by running processors; nlevels entries each */
	uint64_t *busy_ns;   /* by busy ones, estimated; they add up to elapsed_ns */
	uint64_t running_ns, ready_ns, blocked_ns; /* of all threads */
	uint64_t spin_ns;			   /* processor time, estimated */
	uint32_t nsamples, nwaits;
	struct qz_slot_sample *samples; /* by group */
	struct qz_slot_wait *waits;	/* by group */
};

struct qz_slots {
	int64_t begin_ns; /* of the first slot, from the start of the scope */
	uint64_t slot_ns;
	uint32_t n, nlevels;
	struct qz_slot_figures *all;
};

/* Of a report of a profile with a timeline. NULL with errno ENOMEM, or ENODATA where there is no timeline. */
struct qz_slots *qz_slots__new(const struct qz_report *r);
void qz_slots__free(struct qz_slots *s);

#endif
