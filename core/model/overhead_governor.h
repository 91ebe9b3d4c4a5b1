/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overhead governor: keeps what Quartz costs below a share of the processors by halving the rates
 * of what need not be exact, samples and walks of stacks, or the part of the time in which switches are counted
 * (bpf/skip.bpf.h), and doubles them again when that is affordable. What is left of the cost of switches, forks and ends
 * of processes has no rate.
 *
 * On a machine that is half idle, 1 % of the processors is 2 % of what its programs use. So for switches the ceiling is a
 * share of the time that the processors are busy: to skip switches loses little. For rates it is a share of all their time.
 */
#ifndef QUARTZ_CORE_OVERHEAD_GOVERNOR_H
#define QUARTZ_CORE_OVERHEAD_GOVERNOR_H

#include "core/model/profile.h"

/* It decides on the costs of so much time, all of it; earlier, when what that time may cost is spent. */
#define QZ_GOVERNOR_WINDOW 10000000000ull

/* One thing that is lowered: 2^halvings times. All but that is the governor's own. */
struct qz_governed {
	uint32_t halvings, most;
	uint32_t quiet;	   /* windows, one after the other, in which twice as much was affordable */
	uint32_t patience; /* so many are needed for what was too much, */
	uint32_t failed;   /* which is at so many halvings, or for more than that */
	uint32_t since;	   /* windows since it was doubled */
};

struct qz_overhead_governor {
	uint32_t ceiling_ppm; /* of the time of all processors */
	struct qz_governed rates, switches;
	/* Of the last window, which had last_ns of all processors: how much they were busy, what Quartz cost, and for what. */
	uint32_t busy_ppm, costs_ppm;
	uint64_t last_ns;
	struct qz_costs last;
	/* The rest is the governor's own. */
	uint64_t first; /* when the first window began, */
	uint64_t began; /* and this one; 0: the first is to begin */
	struct qz_costs told;
	uint64_t told_idle;
	bool started; /* the time in which everything is new is over */
};

/*
 * For a rate of so many Hz, of which at least three are left, and switches of which one in 2^most_switches at least is
 * counted.
 */
void qz_overhead_governor__init(struct qz_overhead_governor *g, uint32_t ceiling_ppm,
				uint32_t rate_hz, uint32_t most_switches);

/*
 * To be called now and then with all costs so far, and with the idle time so far of all processors together. Gives whether
 * the halvings are others than before; they hold from then on.
 */
bool qz_overhead_governor__update(struct qz_overhead_governor *g, uint64_t now, uint32_t processors,
				  uint64_t idle_ns, const struct qz_costs *costs);

#endif
