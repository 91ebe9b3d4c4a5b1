/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processors that a scope may use: by the affinity and the cpusets of its threads, and by quotas of its control groups;
 * and the part of them that others had.
 */
#ifndef QUARTZ_CORE_ALLOWED_H
#define QUARTZ_CORE_ALLOWED_H

#include "core/model/profile.h"

#define QZ_ALLOWED_LIST 64 /* bytes of a list of processors in a sentence */

struct qz_allowed {
	uint32_t processors; /* at least 1 */
	bool fewer;	     /* than the profile has, */
	bool by_cpuset;	     /* by its cpuset; else by its affinity */
	char list
		[QZ_ALLOWED_LIST]; /* the processors, if they are fewer and the list is short, else "" */
	double quota;		   /* processors, on average; 0: it has none */
};

/* Sets *a from what the profile knows; if it knows nothing, all processors and no quota. */
void qz_allowed__find(const struct qz_profile *p, uint32_t scope, struct qz_allowed *a);

/*
 * An upper bound of the processor time that others had: samples outside of the scope, including missing ones, each with as
 * much time as the scope's own samples have. INFINITY: not known.
 */
double qz_allowed__others_ns(const struct qz_profile *p, uint32_t scope);

/* The same as processors on average over the run. */
double qz_allowed__others(const struct qz_profile *p, uint32_t scope);

#endif
