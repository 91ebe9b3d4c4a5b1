/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overhead governor: keeps the cost of Quartz below a share of the processors. It halves the rates of samples and of
 * walks of wait stacks, which need not be exact, and doubles them again when that is affordable. The work at switches has
 * no rate, because all times would be wrong without some of it. If that alone costs too much, nothing is measured for a
 * part of the time: the governor halves the measured time.
 */
#ifndef QUARTZ_CORE_OVERHEAD_GOVERNOR_H
#define QUARTZ_CORE_OVERHEAD_GOVERNOR_H

#include "core/model/profile.h"

/* It decides by the costs of a window of so much time; earlier, if the budget of the window is spent. */
#define QZ_GOVERNOR_WINDOW 10000000000ull

struct qz_overhead_governor {
	uint32_t ceiling_ppm;	/* of the time of all processors */
	uint32_t halvings;	/* of the rates: they are divided by 2^halvings */
	uint32_t time_halvings; /* of the measured time: 1 / 2^time_halvings of all time */
	/* Of the last window, which had last_ns of processor time: the busy share, the cost of Quartz, and its parts. */
	uint32_t busy_ppm, costs_ppm;
	uint64_t last_ns;
	struct qz_costs last;
	/* The rest is the governor's own. */
	uint32_t most;	   /* halvings */
	uint32_t quiet;	   /* consecutive windows in which twice as much was affordable */
	uint32_t patience; /* so many are needed before a rate that was too high, */
	uint32_t failed;   /* which is that at so many halvings, or fewer */
	uint32_t since;	   /* windows since rates were doubled */
	uint32_t rest;	   /* consecutive windows in which twice the time was affordable */
	uint64_t began;	   /* this window; 0: the first is to begin */
	struct qz_costs told;
	uint64_t told_idle;
	bool started; /* the first window, in which everything is new, is over */
};

/* For a rate of rate_hz, which is never lowered below 3 Hz. */
void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz);

/*
 * To be called regularly with all costs so far, and with the idle time so far of all processors together. Returns whether
 * the halvings have changed; the caller applies them from then on.
 */
bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  uint64_t idle_ns, const struct qz_costs *costs);

/*
 * A copy of the governor, for its figures. Before the end of the first window, and after its first second, they are of that
 * window so far.
 */
struct qz_overhead_governor qz_overhead_governor__so_far(const struct qz_overhead_governor *g,
							 uint64_t now, uint32_t processors,
							 uint64_t idle_ns,
							 const struct qz_costs *costs);

#endif
