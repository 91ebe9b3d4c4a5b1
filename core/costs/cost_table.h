/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processor time of a scope was for, by class, and of each class by the procedure that asked for it. Each sample
 * of the report is in one class. So the classes add up to its processor time and to its busy time, together with time
 * without samples or taken out: report->unattributed_ns, instrumentation_ns.
 */
#ifndef QUARTZ_CORE_COST_TABLE_H
#define QUARTZ_CORE_COST_TABLE_H

#include "core/costs/cost_walk.h"
#include "core/report/report.h"

struct qz_cost_row {
	enum qz_cost cost;
	enum qz_cost_origin origin;
	uint32_t asker, through; /* as of struct qz_cost_stack */
	bool nested;		 /* mostly */
	struct qz_figure figure;
	uint64_t bulk_norm_ns;	 /* of it, per byte */
	uint64_t nested_norm_ns; /* of it, in regions within regions */
};

struct qz_cost_class {
	struct qz_figure figure;
	uint64_t bulk_norm_ns;
	uint32_t n;		  /* rows */
	struct qz_cost_row *rows; /* of this class: a part of table->rows */
};

/* Processor time of calls that the kernel counts, whatever their class. */
struct qz_cost_calls {
	uint64_t samples, cpu_ns;
};

struct qz_cost_table {
	struct qz_cost_class classes[QZ_COSTS];
	struct qz_cost_calls reading, writing;
	uint32_t n;
	struct qz_cost_row
		*rows; /* by class, then by normalized and by processor time, descending */
};

/* 0 or -ENOMEM; free in either case. */
int qz_cost_table__find(struct qz_cost_table *t, const struct qz_report *r);
void qz_cost_table__free(struct qz_cost_table *t);

/* The start and the end of the command itself, which no procedure asked for. */
bool qz_cost_row__is_own_start(const struct qz_cost_row *row);

/* Normalized and processor time of all classes but work; that of spinning is processor time only. */
uint64_t qz_cost_table__norm(const struct qz_cost_table *t);
uint64_t qz_cost_table__cpu(const struct qz_cost_table *t);

#endif
