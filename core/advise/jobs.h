/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes of a scope as jobs: when each lived, what it took, and how long it waited for those that it started. */
#ifndef QUARTZ_CORE_JOBS_H
#define QUARTZ_CORE_JOBS_H

#include "core/report/report.h"

struct qz_job {
	int32_t pid;
	uint32_t thread;	   /* of profile->threads: its first one in that table */
	uint64_t start_ns, end_ns; /* first and last seen */
	uint64_t running_ns;	   /* of its threads, on a processor */
	uint64_t ready_ns;	   /* of its threads, without one */
	uint64_t alone_ns;	   /* of the scope, while no other thread of it ran */
	uint64_t child_ns; /* blocked until processes ended that it started, which live instead */
};

/* How long each thread of the profile waited for processes that it started, by its index; to be freed. NULL: no memory. */
uint64_t *qz_jobs__child_times(const struct qz_profile *p);

/*
 * All processes of the report's scope, by pid, with these times; to be freed. NULL: no memory. Threads that stand for several
 * are in none. Thread-safe.
 */
struct qz_job *qz_jobs__of(const struct qz_report *r, const uint64_t *child_ns, uint32_t *n);

#endif
