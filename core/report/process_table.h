/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each process of a profile cost, or each group of them: the table of `quartzctl ps`. Pure; one
 * pass over the samples, however many processes there are.
 */
#ifndef QUARTZ_CORE_PROCESS_TABLE_H
#define QUARTZ_CORE_PROCESS_TABLE_H

#include "core/model/profile.h"

/* What has a row of its own. */
enum qz_process_group { QZ_BY_PROCESS, QZ_BY_COMM, QZ_BY_UNIT, QZ_BY_CGROUP };

/*
 * In the order of the words of `quartzctl ps --sort`. QZ_ORDER_AUTO sorts by normalized time, or, if rows with more than
 * half of that have fewer than QZ_FEW_SAMPLES samples, by processor time, which is exact.
 */
enum qz_process_order {
	QZ_ORDER_AUTO,
	QZ_ORDER_NORM,
	QZ_ORDER_CPU,
	QZ_ORDER_PARALLELISM,
	QZ_ORDER_SERIAL,
	QZ_ORDER_SPIN,
	QZ_ORDER_THREADS,
	QZ_ORDER_NAME,
};

/*
 * The parallelism is that of each single process: busy_ns is the sum over the processes of the
 * time during which at least one of its threads was busy, serial_ns of that with exactly one. Both come from levels, which
 * are exact without samples, except for spinning. norm_ns is the normalized time in the machine's table, where there is a
 * scope of the machine, and is estimated then; else busy_ns.
 */
struct qz_process_row {
	uint32_t scope; /* of the first process */
	char *name;	/* comm, unit or cgroup; "" where these are not known */
	uint64_t processes, threads;
	uint64_t cpu_ns; /* the kernel's own accounting */
	uint64_t norm_ns, busy_ns, serial_ns;
	uint64_t ci_ns;	      /* half width of the 95 % interval of norm_ns; 0: it is exact */
	uint64_t busy_cpu_ns; /* busy processors, summed up over busy_ns */
	uint64_t spin_ns;
	uint64_t samples, unresolved, spin_samples;
	uint32_t top_procedure; /* with the most norm_ns of its own, QZ_NONE without samples */
	uint32_t
		top_object; /* the object whose holders have the most norm_ns, else the one with the longest waits; QZ_NONE: no waits for objects */
};

struct qz_process_table {
	uint32_t n;
	struct qz_process_row *rows;
	uint64_t busy_ns;	  /* of the machine; 0 without its scope */
	uint64_t unattributed_ns; /* of this, without a sample: sum of norm_ns + this = busy_ns */
	bool estimated;		  /* norm_ns of the rows is */
	enum qz_process_order order; /* in which the rows are, never QZ_ORDER_AUTO */
};

/* Whether norm_ns of a row rests on too few samples. */
bool qz_process_table__is_rough(const struct qz_process_table *t, const struct qz_process_row *row);

/* Mean effective parallelism while a row was busy, 0 when it never was. */
double qz_process_row__parallelism(const struct qz_process_row *row);

/* Share of the busy time that was serial, 0 to 1. */
double qz_process_row__serial(const struct qz_process_row *row);

/*
 * The rows of n scopes of an estimated profile (the machine's is left out), sorted. 0 or -ENOMEM. Free
 * with qz_process_table__free in any case.
 */
int qz_process_table__make(struct qz_process_table *t, const struct qz_profile *p,
			   const uint32_t *scopes, uint32_t n, enum qz_process_group by,
			   enum qz_process_order order);
void qz_process_table__free(struct qz_process_table *t);

#endif
