/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that park: a waiter sleeps at a word of its own, until the thread that lets go of the lock wakes it. Monitors of Java,
 * parking_lot, absl and folly are such, and no word of theirs is one that several threads wait for. Known by its pattern: threads
 * that work in turns sleep at words that one thread each waits for, and wake each other.
 */
#ifndef QUARTZ_CORE_PARKING_H
#define QUARTZ_CORE_PARKING_H

#include "core/report/report.h"

struct qz_parking {
	uint32_t object;    /* the words, which have one name; QZ_NONE: there is no such lock */
	uint64_t waited_ns; /* by these threads */
	double woken;	    /* share of the wake-ups that are theirs */
	uint32_t
		place; /* innermost procedure of the program from which they sleep as well as wake; QZ_NONE */
};

/* For threads that run the procedure `phase` in turns. 0 or -ENOMEM. */
int qz_parking__find(const struct qz_report *r, uint32_t phase, struct qz_parking *parking);

#endif
