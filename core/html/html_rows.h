/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows that views of a page add up: samples, waits and wake-ups of one scope, with one row for all of a kind that are
 * equal in stack, thread, level and object. Sums are those of the report.
 */
#ifndef QUARTZ_CORE_HTML_ROWS_H
#define QUARTZ_CORE_HTML_ROWS_H

#include "core/html/html_nodes.h"
#include "core/report/report.h"

enum qz_html_kind { QZ_HTML_SAMPLES, QZ_HTML_WAITS, QZ_HTML_WAKES, QZ_HTML_KINDS };

enum { QZ_HTML_KEYS = 7, QZ_HTML_VALUES = 3 };

struct qz_html_row {
	/*
	 * Node, thread, object, and of samples level, busy, spinning, of waits the cause. Threads and objects by their
	 * place in the report; QZ_NONE: none.
	 */
	uint32_t keys[QZ_HTML_KEYS];
	uint64_t values
		[QZ_HTML_VALUES]; /* norm_ns, cpu_ns, samples; blocked_ns, ready_ns, waits; woken_ns, wakes */
};

struct qz_html_rows {
	uint32_t n;
	struct qz_html_row *rows; /* by their keys */
};

/* Adds one. -ENOMEM. */
int qz_html_rows__add(struct qz_html_rows *rows, const struct qz_html_row *row);

/* Sorts the rows by their keys, and joins equal ones. */
void qz_html_rows__merge(struct qz_html_rows *rows);

/*
 * In merged rows, replaces the first key by its distance from that of the row before, which compresses better. They cannot
 * be merged any more.
 */
void qz_html_rows__make_steps(struct qz_html_rows *rows);

/* Marks the nodes of the profile that have rows in this report. */
void qz_html_rows__mark(const struct qz_report *r, bool *wanted);

/* -ENOMEM; free rows. */
int qz_html_rows__find(const struct qz_report *r, const struct qz_html_nodes *nodes,
		       enum qz_html_kind kind, struct qz_html_rows *found);

#endif
