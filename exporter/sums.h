/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was measured since the exporter began. Estimates of a whole run are made anew with each
 * snapshot, and one of them may be smaller than before; what is added up here is the differences of
 * snapshots, so that no sum ever falls, also when quartzd is started anew. Not thread-safe.
 */
#ifndef QUARTZ_EXPORTER_SUMS_H
#define QUARTZ_EXPORTER_SUMS_H

#include "core/processes.h"

struct sums_row {
	char *name; /* comm, unit or control group; NULL of the row of all others */
	int32_t pid;
	uint64_t cpu_ns, norm_ns, busy_ns, serial_ns, busy_cpu_ns, spin_ns;
	uint64_t used; /* at which addition it grew last */
};

struct sums {
	enum qz_process_group by;
	uint32_t max; /* rows */
	uint32_t nrows;
	struct sums_row *rows, others;
	uint64_t evicted;   /* rows that made room for others */
	uint64_t additions; /* so far */
	uint64_t window_ns;
	struct qz_costs costs;
	bool machine; /* these have been measured: */
	uint64_t busy_ns, serial_ns, busy_cpu_ns, spin_ns;
	uint32_t nlevels;
	uint64_t *level_ns;
	struct qz_ledger ledger;
};

void sums__free(struct sums *s);

/* Adds an estimated profile. 0 or -ENOMEM; some of it may have been added then. */
int sums__add(struct sums *s, const struct qz_profile *added);

#endif
