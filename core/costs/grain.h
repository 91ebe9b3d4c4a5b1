/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How small the steps of a scope are: how often it started, and handed over, what each cost, and what threads worked in between.
 * Counts are exact, of the scheduler's log; costs are the processor time of a class, which is sampled, by the count.
 */
#ifndef QUARTZ_CORE_COSTS_GRAIN_H
#define QUARTZ_CORE_COSTS_GRAIN_H

#include "core/costs/cost_table.h"

/* Processor time of a class for each; 0: no sample met it. */
struct qz_grain_cost {
	uint64_t samples;
	double ns;
};

struct qz_grain {
	uint64_t threads, processes; /* started */
	uint64_t hand_overs;
	struct qz_grain_cost start, hand_over;
	/*
	 * Half of the hand-overs at least ended a stretch of work that was shorter than this. 0: there was none; UINT64_MAX: it
	 * is longer than the last limit.
	 */
	uint64_t half_below_ns;
};

/* Of a scope, with what its time was for. */
struct qz_grain qz_grain__find(const struct qz_scope *scope, const struct qz_cost_table *t);

/* What work is shorter than that counters.grain[i] has, for i below QZ_GRAINS; UINT64_MAX: the last one has no limit. */
uint64_t qz_grain__limit_ns(uint32_t i);

/* Nothing was started, nor handed over; or the profile does not know. */
bool qz_grain__is_none(const struct qz_grain *g);

#endif
