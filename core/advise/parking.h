/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that park: each waiter sleeps at an object of its own, a futex word or, in poll, a descriptor, until the thread
 * that releases the lock wakes it. Monitors of Java, parking_lot, absl, folly and the locks of PostgreSQL do so; several
 * threads never wait for the same object. Such a lock is recognized by its pattern: threads sleep in one place, each at its
 * own object, and wake each other from code in which they also sleep.
 *
 * Tasks of a runtime that sleep without the kernel are seen only when a lock is released for which one of them waits.
 */
#ifndef QUARTZ_CORE_PARKING_H
#define QUARTZ_CORE_PARKING_H

#include "core/report/report.h"

/* Procedures are QZ_NONE where none is known. */
struct qz_parking {
	uint32_t object;  /* the words, which have one name; QZ_NONE: they sleep in poll, */
	uint32_t cause;	  /* with this cause, */
	uint32_t sleeper; /* in this procedure, the innermost that sleeps for the lock alone */
	/* The innermost procedure of the program that they sleep in as well as wake from. */
	uint32_t place;
	uint32_t waker;	     /* the innermost procedure below that from which most are woken */
	uint32_t threads;    /* that sleep there; 0: tasks sleep there */
	uint64_t waits;	     /* number of waits; with tasks: of wake-ups */
	uint64_t waited_ns;  /* all together */
	uint64_t late_ns;    /* all together, from when they were woken until they ran */
	uint64_t idle_ns;    /* of the time in which nothing ran: charged to these waits */
	uint64_t alone_ns;   /* of the time in which one thread ran: one of these did */
	uint64_t longest_ns; /* that one of these ran, in all */
	/*
	 * With tasks: the time that those which ever take the lock ran alone, with and without it, and the time of the
	 * hand-overs.
	 */
	uint64_t takers_alone_ns, handing_ns;
	/* Where these threads are blocked longest by something that is not a thread, and the cause. */
	uint32_t asleep_in;
	uint32_t asleep_cause;
	double woken; /* share of the wake-ups there that these threads make */
};

/* The costliest of a scope. False in *found: there is none. 0 or -ENOMEM. */
int qz_parking__find(const struct qz_report *r, struct qz_parking *parking, bool *found);

#endif
