/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters since the start of the exporter. Estimates of a whole run are computed anew for each
 * snapshot, so one of them may decrease. These sums add up differences of snapshots, so they never
 * decrease, even if quartzd restarts. Not thread-safe.
 */
#ifndef QUARTZ_EXPORTER_SUMS_H
#define QUARTZ_EXPORTER_SUMS_H

#include "core/report/process_table.h"

struct sums_row {
	char *name;   /* comm, unit or control group */
	bool made_up; /* Quartz's own name, which no other row has */
	int32_t pid;
	uint64_t number; /* unique */
	uint64_t cpu_ns, norm_ns, busy_ns, serial_ns, busy_cpu_ns, spin_ns;
	uint64_t used; /* number of the last addition in which it grew */
};

struct sums {
	enum qz_process_group by;
	uint32_t max; /* rows */
	uint32_t nrows;
	struct sums_row *rows, others;
	uint64_t made;	    /* rows so far, for their numbers */
	uint64_t evicted;   /* rows removed to make room for others */
	uint64_t additions; /* so far */
	uint64_t window_ns;
	struct qz_costs costs;
	bool machine; /* quartzd measures the machine; then the following are valid */
	uint64_t busy_ns, serial_ns, busy_cpu_ns, spin_ns;
	uint32_t nlevels;
	uint64_t *level_ns;
	struct qz_ledger ledger;
};

void sums__free(struct sums *s);

/* Adds an estimated profile. 0 or -ENOMEM; then some of it may have been added. */
int sums__add(struct sums *s, const struct qz_profile *added);

#endif
