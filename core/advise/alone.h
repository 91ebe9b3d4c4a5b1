/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time in which one thread of a scope could run and no other: which code and which threads have it, and why. It is
 * divided between code that a single thread runs, a serial phase or a stage, and code that several run, which wait for the
 * slowest of them.
 */
#ifndef QUARTZ_CORE_ALONE_H
#define QUARTZ_CORE_ALONE_H

#include "core/advise/usage.h"

enum qz_alone_kind {
	QZ_ALONE_NOT,	    /* too little to matter */
	QZ_ALONE_SERIAL,    /* one thread, and the others have nothing to do */
	QZ_ALONE_STAGE,	    /* one thread that is always busy; others hand it work, or take it */
	QZ_ALONE_PROCESSES, /* processes, one after another */
};

struct qz_alone {
	struct qz_usage usage;
	enum qz_alone_kind kind; /* of the single thread's time */
	uint64_t ns;		 /* of it */
	uint64_t around_ns;	 /* with what it ran of the code around that */
	uint32_t phase;		 /* procedure that has most of it, callees included */
	uint32_t code;		 /* procedure with most of it in its own code */
	uint64_t code_ns;
	uint32_t thread; /* that runs it: of profile->threads */

	uint64_t shared_ns;	    /* of the rest; 0: no work that several threads share */
	uint32_t shared_phase;	    /* procedure */
	bool locked;		    /* its threads wait for locks, more than for each other */
	uint32_t sharers;	    /* threads that run it */
	bool apart;		    /* each is the first one of its process */
	uint64_t most_ns, least_ns; /* processor time of these in it */

	uint32_t processes;  /* jobs with a part of the time: without who starts them */
	uint64_t longest_ns; /* processor time of the longest of these */
	uint64_t driver_ns;  /* of the time: what who starts them does itself */
};

/* 0 or -ENOMEM. */
int qz_alone__find(const struct qz_report *r, struct qz_alone *a);

#endif
