/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The self time of one procedure, divided among its source lines or its instructions: a finer view of
 * the same samples, so the figures add up to the procedure's own.
 */
#ifndef QUARTZ_CORE_CODE_TIMES_H
#define QUARTZ_CORE_CODE_TIMES_H

#include "core/report/report.h"

struct qz_code_time {
	/* Of an instruction; 0 and QZ_NONE of a line. */
	uint64_t address; /* in the mapping's file */
	uint32_t mapping;
	uint32_t part; /* as in struct qz_line: the file that has the line */
	uint32_t line; /* 0: not known */
	struct qz_figure figure;
};

enum qz_code_unit { QZ_CODE_LINES, QZ_CODE_INSTRUCTIONS };

/*
 * The sampled lines or instructions of a procedure, by file and line, its own file first, or by mapping and address. With
 * recorded inlined procedures, only the lines of its own text count; otherwise the time of inlined code is that of the line
 * that called it. Free *times with qz_code_times__free. -EINVAL when there is no such procedure, -ENOMEM.
 */
int qz_code_times__of(const struct qz_report *r, uint32_t procedure, enum qz_code_unit unit,
		      struct qz_code_time **times, uint32_t *n);

void qz_code_times__free(struct qz_code_time *times, uint32_t n);

/* Whether any place of this profile has a line: it was recorded with --lines then. */
bool qz_code_times__any_line(const struct qz_profile *p);

#endif
