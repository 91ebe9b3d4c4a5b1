/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a scope did not use processors: it had no thread that could run, or others had them while its threads were ready.
 * Levels count only running threads, so a program beside other programs looks more serial than it is; the ready time of its
 * waits separates the two reasons.
 */
#ifndef QUARTZ_CORE_USAGE_H
#define QUARTZ_CORE_USAGE_H

#include "core/report/report.h"

struct qz_usage {
	uint32_t processors; /* that it may use, core/model/allowed.h; at least 1 */
	/*
	 * How much more than one thread a thread for each processor would get done: the number of processors, less what
	 * others would take. From 1 to `processors`.
	 */
	double width;
	uint64_t unused_ns; /* processor time: sum over levels n < P of (P - n) * their time */
	uint64_t taken_ns;  /* of this, while a thread was ready; the rest is lack of work */
	uint64_t
		limited_ns; /* of taken_ns, while a processor was free: kept from it by affinity, cpuset or quota */
	uint64_t own_ns;       /* of the rest of taken_ns, at most: had by Quartz itself */
	uint64_t throttled_ns; /* processor time that a quota kept it from; of limited_ns */
	bool used_up; /* it was throttled in nearly each period: it took as long as its processor time takes by the quota */
	/* In addition to taken_ns, also while a thread was ready: from its wake-up until it was on a processor. */
	uint64_t late_ns;
	uint64_t ready_ns; /* of all threads, exact */
	double wanting; /* share of the time at a level below P in which no other thread was ready */
	/* Elapsed time, as it would be if ready threads always had a processor. */
	uint64_t alone_ns; /* one thread could run */
	uint64_t idle_ns;  /* none could */
	/* The upper bound of alone_ns: threads that Quartz kept from running would have had to wait for another thread anyway. */
	uint64_t most_alone_ns;
};

/*
 * The most that a scope gains if it is no longer idle for idle_ns: this time, and a share of the time alone, which all
 * processors then share, since more work is under way at a time.
 */
uint64_t qz_usage__gain_of_idle(const struct qz_report *r, uint64_t idle_ns);

/* What ready threads mostly waited for, in words. Static. */
const char *qz_usage__lacking(const struct qz_usage *u);

/* Whether a wait is of the scope and for a device, and no thread could run meanwhile. */
bool qz_usage__is_idle_for_device(const struct qz_report *r, const struct qz_wait *w);

/* Of the scope: ns blocked for devices while no thread could run. */
uint64_t qz_usage__device_ns(const struct qz_report *r);

/*
 * Whether the scope waited most of the time for something outside of it, as a server does for its clients: it would not
 * have ended earlier if it had worked faster.
 */
bool qz_usage__is_open(const struct qz_report *r, const struct qz_usage *u);

/* Whether it is a command that ended, and so would have ended earlier. A server would not. */
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
