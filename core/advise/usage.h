/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of the processors that a scope did not use: it had no thread that could run, or others had
 * them while its threads were ready. Levels count running threads only, so that a program between
 * other programs looks more serial than it is; the ready time of its waits separates the two.
 */
#ifndef QUARTZ_CORE_USAGE_H
#define QUARTZ_CORE_USAGE_H

#include "core/report/report.h"

struct qz_usage {
	uint32_t processors; /* at least 1 */
	uint64_t unused_ns;  /* processor time: sum over levels n < P of (P - n) * their time */
	uint64_t taken_ns;   /* of this, while a thread was ready; the rest is for lack of work */
	/* Likewise, though nobody else had a processor: until a woken thread was on one. */
	uint64_t late_ns;
	uint64_t ready_ns; /* of all threads, exact */
	double wanting; /* share of the time at a level below P in which no other thread was ready */
	/* Elapsed time, as it were if a thread that is ready always had a processor. */
	uint64_t alone_ns; /* one thread could run */
	uint64_t idle_ns;  /* none could */
};

/* Waits for devices, by the name of their cause. Those for other programs, clocks and events may be idleness. */
bool qz_usage__is_device(const char *cause);

/*
 * Whether the scope waited most of the time for something outside of it, as a server does for its clients: it
 * would not have been done earlier had it worked faster.
 */
bool qz_usage__is_open(const struct qz_report *r, const struct qz_usage *u);

void qz_usage__find(const struct qz_report *r, struct qz_usage *u);

#endif
