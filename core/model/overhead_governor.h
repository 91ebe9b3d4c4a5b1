/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overhead governor: keeps what Quartz costs below a share of the processors. It halves the rates of samples and of
 * walks of stacks, which need not be exact, and doubles them again when that is affordable. What is done at switches
 * has no rate, because times would be wrong without any of it. Where that alone is too much, nothing is measured for a
 * part of the time, in which threads are not followed: it halves what is left of the time.
 */
#ifndef QUARTZ_CORE_OVERHEAD_GOVERNOR_H
#define QUARTZ_CORE_OVERHEAD_GOVERNOR_H

#include "core/model/profile.h"

/* It decides on the costs of so much time, all of it; earlier, when what that time may cost is spent. */
#define QZ_GOVERNOR_WINDOW 10000000000ull

struct qz_overhead_governor {
	uint32_t ceiling_ppm;	/* of the time of all processors */
	uint32_t halvings;	/* of the rates: they are divided by 2^halvings */
	uint32_t time_halvings; /* of the time: it is measured for 1 / 2^time_halvings of it */
	/* Of the last window, which had last_ns of all processors: how much they were busy, what Quartz cost, and for what. */
	uint32_t busy_ppm, costs_ppm;
	uint64_t last_ns;
	struct qz_costs last;
	/* The rest is the governor's own. */
	uint32_t most;	   /* halvings */
	uint32_t quiet;	   /* windows, one after the other, in which twice as much was affordable */
	uint32_t patience; /* so many are needed for what was too much, */
	uint32_t failed;   /* which is at so many halvings, or for more than that */
	uint32_t since;	   /* windows since rates were doubled */
	uint32_t rest;	/* windows, one after the other, in which twice the time was affordable */
	uint64_t began; /* this window; 0: the first is to begin */
	struct qz_costs told;
	uint64_t told_idle;
	bool started; /* the first window, in which everything is new, is over */
};

/* For a rate of so many Hz, of which at least three are left. */
void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz);

/*
 * To be called now and then with all costs so far, and with the idle time so far of all processors together. Gives whether
 * halvings are others than before; they hold from then on.
 */
bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  uint64_t idle_ns, const struct qz_costs *costs);

/* The governor, for its figures: before the first window has ended, with those of that window so far, from a second on. */
struct qz_overhead_governor qz_overhead_governor__so_far(const struct qz_overhead_governor *g,
							 uint64_t now, uint32_t processors,
							 uint64_t idle_ns,
							 const struct qz_costs *costs);

#endif
