/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures of one scope in one run, by identities that other runs share. Does not refer to the report. */
#ifndef QUARTZ_CORE_COMPARE_RUN_H
#define QUARTZ_CORE_COMPARE_RUN_H

#include "core/compare/identities.h"
#include "core/report/report.h"

/* Times are nanoseconds; each *_ci_ns is half of a 95 % interval. For rows without callees, self equals total. */
struct qz_run_row {
	uint32_t identity;
	bool kept; /* not a wrapper of another row: core/report/folding.h */
	uint64_t samples;
	double self_ns, self_ci_ns, total_ns, total_ci_ns;
	double cpu_ns, cpu_ci_ns; /* of its own */
	double spin_ns;		  /* of cpu_ns, spinning */
	double beside_ns;	  /* processor time that was idle or spun while its own code ran */
	double blocked_ns;	  /* exact, without idle threads */
};

struct qz_run {
	char *comm, *command; /* "" when unknown */
	uint32_t processors;
	double rate_hz, least_rate_hz;
	bool ended; /* the program, within the run */
	uint64_t samples;
	double elapsed_ns, cpu_ns, idle_ns, serial_ns, busy_ns, parallelism;
	double absent_ci_ns; /* of what has no sample */
	char *verdict;
	uint32_t n;
	struct qz_run_row *rows; /* self_ns of QZ_COMPARE_ADDING kinds adds up to busy_ns */
};

/* NULL with ENOMEM or E2BIG. */
struct qz_run *qz_run__new(struct qz_identities *ids, const struct qz_report *r);
void qz_run__free(struct qz_run *run);

#endif
