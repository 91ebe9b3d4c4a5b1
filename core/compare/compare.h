/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares one scope between two sides of one or more runs each: what changed, and whether by more than chance.
 *
 * The self changes of all rows except objects and threads, and the change of idle time, add up to the change of the elapsed time.
 */
#ifndef QUARTZ_CORE_COMPARE_COMPARE_H
#define QUARTZ_CORE_COMPARE_COMPARE_H

#include "core/compare/run.h"
#include "core/compare/spread.h"

/* What rows are sorted by: the size of a change, descending; names ascending. */
enum qz_compare_key {
	QZ_COMPARE_BY_SELF,
	QZ_COMPARE_BY_TOTAL,
	QZ_COMPARE_BY_CPU,
	QZ_COMPARE_BY_BLOCKED,
	QZ_COMPARE_BY_NAME,
};

/* Times are nanoseconds of one run, on average. */
struct qz_compared {
	uint32_t identity;
	bool in_before, in_after; /* in one run of the side at least */
	bool namesake;		  /* there is another row of this name, in another module */
	bool certain;	  /* self or total changed by more than chance; of waits, blocked, of
				     classes, cpu */
	uint64_t samples; /* of all runs */
	struct qz_change self, total, cpu, blocked;
};

struct qz_comparison {
	uint32_t nbefore, nafter; /* runs */
	struct qz_change elapsed, cpu, idle, serial, parallelism;
	uint32_t n, ncertain;
	struct qz_compared *rows; /* the certain ones first, each part sorted */
};

/*
 * Kinds, a sum of 1 << enum qz_identity_kind, say which rows there are. Each side has one run at least. NULL with
 * ENOMEM.
 */
struct qz_comparison *qz_compare__new(const struct qz_identities *ids, struct qz_run *const *before,
				      uint32_t nbefore, struct qz_run *const *after,
				      uint32_t nafter, unsigned int kinds, enum qz_compare_key key);
void qz_compare__free(struct qz_comparison *c);

/* The sum of the self changes of rows from..to-1, of those that add up. */
double qz_compare__self(const struct qz_comparison *c, const struct qz_identities *ids,
			uint32_t from, uint32_t to);

/* Kinds that add up to the elapsed time, with idle time. */
#define QZ_COMPARE_ADDING                                                                          \
	(1u << QZ_IDENTITY_PROCEDURE | 1u << QZ_IDENTITY_KERNEL | 1u << QZ_IDENTITY_NO_SAMPLES |   \
	 1u << QZ_IDENTITY_COST)

#endif
