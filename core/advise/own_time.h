/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of each procedure in the process that called it: unlike the rows of a report, without the processes that were
 * started from it. And whether one thread has all of it.
 */
#ifndef QUARTZ_CORE_OWN_TIME_H
#define QUARTZ_CORE_OWN_TIME_H

#include "core/costs/cost_walk.h"
#include "core/report/report.h"

struct qz_own_time {
	uint64_t cpu_ns;    /* busy, in it and its callees and in threads that it started */
	uint64_t serial_ns; /* of its normalized time, that at level 1 */
	uint64_t code_ns;   /* of serial_ns, in its own code */
	uint64_t ready_ns;  /* of its threads while no other could run either */
	bool tasks;	    /* threads of a pool run it in turn: it counts as the work of one */
	uint32_t
		worker; /* the one with most of it, if it has at least half: a thread, or the procedure that goroutines were started with */
	uint32_t thread;    /* that one, or the first of its process; QZ_NONE: no samples */
	uint64_t thread_ns; /* processor time of the worker in it */
};

/*
 * One for each procedure of the profile, to be freed. NULL with ENOMEM. Starting, handing over and calls are not work that
 * could be divided: they are left out, and *costs_ns is their time in which no other thread could run.
 */
struct qz_own_time *qz_own_time__of(const struct qz_report *r, const struct qz_cost_walk *costs,
				    uint64_t *costs_ns);

/* Whether the time of a stack can be divided among threads: it is work, or depends on the number of bytes. */
bool qz_own_time__is_work(const struct qz_cost_walk *costs, uint32_t node);

/* Whether a single thread runs it. */
bool qz_own_time__is_single(const struct qz_own_time *t);

#endif
