/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overhead governor: keeps what Quartz costs below a share of the processors by halving the rates
 * of what need not be exact, samples and walks of stacks, and doubles them again when that is
 * affordable. The accounting at switches is exact or nothing: it is measured and never lowered.
 */
#ifndef QUARTZ_CORE_OVERHEAD_GOVERNOR_H
#define QUARTZ_CORE_OVERHEAD_GOVERNOR_H

#include "core/model/profile.h"

/* It decides on the costs of so much time, all of it; earlier, when what that time may cost is spent. */
#define QZ_GOVERNOR_WINDOW 10000000000ull

struct qz_overhead_governor {
	uint32_t ceiling_ppm; /* of the time of all processors */
	uint32_t most;	      /* halvings */
	uint32_t halvings;
	uint32_t costs_ppm; /* of the last window: of the time of all processors in it, last_ns, */
	struct qz_costs last; /* these were spent */
	uint64_t last_ns;
	/* The rest is the governor's own. */
	uint64_t began; /* of the window, 0: the first is to begin */
	struct qz_costs told;
	bool started;	/* the first window, in which everything is new, is over */
	uint32_t quiet; /* windows, one after the other, in which twice the rate was affordable */
	uint32_t patience; /* so many are needed for the rate that was too much, */
	uint32_t failed;   /* which is at so many halvings, or for a higher one */
	uint32_t since;	   /* windows since the rate was doubled */
};

/* For a rate of so many Hz, of which at least three are left. */
void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz);

/*
 * To be called now and then with all costs so far. Gives whether the halvings are others than before;
 * they hold from then on.
 */
bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  const struct qz_costs *costs);

#endif
