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
	uint32_t processors; /* that it may use, core/model/allowed.h; at least 1 */
	/*
	 * How many times as much as one thread a thread for each of them would get done: as often as there are processors, but for
	 * those that others compete for. From 1 to `processors`.
	 */
	double width;
	uint64_t unused_ns; /* processor time: sum over levels n < P of (P - n) * their time */
	uint64_t taken_ns;  /* of this, while a thread was ready; the rest is for lack of work */
	uint64_t
		limited_ns; /* of taken_ns, though nobody else had a processor: by affinity, cpuset or quota */
	uint64_t own_ns;       /* of the rest of taken_ns, at most: Quartz itself had it */
	uint64_t throttled_ns; /* processor time that a quota kept it from; of limited_ns */
	/* Beside taken_ns, also while a thread was ready: until a woken thread was on one. */
	uint64_t late_ns;
	uint64_t ready_ns; /* of all threads, exact */
	double wanting; /* share of the time at a level below P in which no other thread was ready */
	/* Elapsed time, as it were if a thread that is ready always had a processor. */
	uint64_t alone_ns; /* one thread could run */
	uint64_t idle_ns;  /* none could */
	/* alone_ns at most: who was kept from running by Quartz had to wait for another thread anyway. */
	uint64_t most_alone_ns;
};

/*
 * At most, what a scope gains that is not idle for idle_ns any more: this, and what ran alone is shared by all processors,
 * since more of it is under way at a time.
 */
uint64_t qz_usage__gain_of_idle(const struct qz_report *r, uint64_t idle_ns);

/* What threads that were ready waited for, mostly. */
const char *qz_usage__lacking(const struct qz_usage *u);

/* Waits for devices, by the name of their cause. Those for other programs, clocks and events may be idleness. */
bool qz_usage__is_device(const char *cause);
/* Whether a wait is of the scope and for a device, and no thread could run meanwhile. */
bool qz_usage__is_idle_for_device(const struct qz_report *r, const struct qz_wait *w);

/* Of the scope: ns blocked for devices while no thread could run. */
uint64_t qz_usage__device_ns(const struct qz_report *r);

/*
 * Whether the scope waited most of the time for something outside of it, as a server does for its clients: it
 * would not have been done earlier had it worked faster.
 */
bool qz_usage__is_open(const struct qz_report *r, const struct qz_usage *u);

/* Whether it is a command that came to its end: it would have come to it earlier. One that serves others would not. */
bool qz_usage__is_closed(const struct qz_report *r);

/* The scope that ran most beside this one, in a profile of the machine; QZ_NONE: that is not known. */
uint32_t qz_usage__other(const struct qz_report *r);

/*
 * The program that was sampled most outside of all scopes, without Quartz: "comm (unit)". NULL: none was, or that is
 * not known. Not escaped; the profile's.
 */
const char *qz_usage__outside(const struct qz_profile *p);

/* The name of a scope and its unit, for a sentence; not escaped. To be freed; NULL with ENOMEM. */
char *qz_usage__name(const struct qz_profile *p, uint32_t scope);

void qz_usage__find(const struct qz_report *r, struct qz_usage *u);

#endif
