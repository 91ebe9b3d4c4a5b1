/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How small the steps of a scope are: the numbers of starts, hand-overs, reads and writes, the cost of each, and the work of
 * threads between hand-overs. Counts are exact, from the scheduler's log; a cost is the sampled processor time of a class, or
 * of calls, divided by the count. What runtimes start and hand over without the kernel (goroutines, tasks of tokio) has no count,
 * and is in no cost.
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
	struct qz_transfers transfers;
	struct qz_grain_cost start, hand_over, read, write;
	/*
	 * At least half of the hand-overs came after less work than this. 0: there was no hand-over; UINT64_MAX: more than
	 * the last limit.
	 */
	uint64_t half_below_ns;
};

/* The grain of a scope; t: its costs. */
struct qz_grain qz_grain__find(const struct qz_scope *scope, const struct qz_cost_table *t);

/* The upper limit of the work that counters.grain[i] counts, for i below QZ_GRAINS; UINT64_MAX: the last one has no limit. */
uint64_t qz_grain__limit_ns(uint32_t i);

/* "1 byte", "64.0 KiB": so many bytes in so many calls, on average. */
#define QZ_GRAIN_BYTES 32
const char *qz_grain__bytes(uint64_t bytes, uint64_t calls, char room[QZ_GRAIN_BYTES]);

/* Whether nothing was started, handed over, read or written, or the profile has no counts. */
bool qz_grain__is_none(const struct qz_grain *g);

#endif
