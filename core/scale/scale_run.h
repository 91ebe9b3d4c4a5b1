/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of one run on P processors: P times its elapsed time is work and idle time. Idle are processors that ran
 * nothing of the program, and those that spun.
 */
#ifndef QUARTZ_CORE_SCALE_SCALE_RUN_H
#define QUARTZ_CORE_SCALE_SCALE_RUN_H

#include "core/compare/run.h"
#include "core/scale/idle_causes.h"

/* Times are nanoseconds of processor time, but for elapsed_ns. */
struct qz_scale_run {
	uint32_t processors;
	double elapsed_ns, work_ns, idle_ns; /* processors * elapsed = work + idle */
	/* Parts of idle_ns: see enum qz_idle_cause_kind; lacking is the rest, for waits and want of threads. */
	double spin_ns, others_ns, quartz_ns, late_ns, lacking_ns;
	double beyond_ns; /* elapsed time in which more than `processors` ran the program */
	struct qz_idle_causes causes; /* they add up to idle_ns */
	struct qz_run *run;	      /* its procedures */
};

/* NULL with ENOMEM or E2BIG. The identities must know the profile. */
struct qz_scale_run *qz_scale_run__new(struct qz_identities *ids, const struct qz_report *r);

/* Multiplies all its times by a factor: for a different amount of work. */
void qz_scale_run__stretch(struct qz_scale_run *s, double factor);
void qz_scale_run__free(struct qz_scale_run *s);

#endif
