/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports for programs: JSON of schema quartz.report/v1. Integers only, times in nanoseconds, keys
 * sorted; fields may be added within v1, none changes its meaning.
 */
#ifndef QUARTZ_CORE_REPORT_JSON_H
#define QUARTZ_CORE_REPORT_JSON_H

#include <jansson.h>

#include "core/report/ranking.h"
#include "core/report/report.h"

/* Which rows are in a document: the first `max` of these kinds, in their own order or sorted. */
struct qz_json_rows {
	unsigned int kinds;   /* core/report/ranking.h */
	enum qz_rank_key key; /* QZ_RANK_BY_DEFAULT: by normalized time */
	uint32_t max;
	/* Makes the member "timeline" of each scope (core/timeline/timeline_json.h); NULL: there is none. */
	json_t *(*timeline)(const struct qz_report *r);
};

/*
 * The document for one or more reports on the same profile. Returns a text that ends with a newline, to be
 * freed, or NULL (errno ENOMEM).
 */
char *qz_report_json__report(const struct qz_report *const *reports, uint32_t n,
			     const struct qz_json_rows *which);

/* Parts of it that other documents have too. NULL: memory was short. */
/* What it says of the run, and of a scope without its rows and threads. */
json_t *qz_report_json__run(const struct qz_profile *p);
json_t *qz_report_json__scope(const struct qz_report *r);
json_t *qz_report_json__figure(const struct qz_report *r, const struct qz_figure *f);
json_t *qz_report_json__causes(const struct qz_profile *p, const struct qz_causes *causes);
json_t *qz_report_json__procedure(const struct qz_report *r, const struct qz_row *row);
json_t *qz_report_json__object(const struct qz_report *r, const struct qz_object_row *row);

/* The word for a kind of scope. */
const char *qz_report_json__scope_kind(const struct qz_scope *scope);

/* These add to an object. Other than 0: memory was short. */
/* "cgroup" and "unit", where they are known. */
int qz_report_json__add_cgroup(json_t *object, const struct qz_scope *scope);
/* rate_hz, which was asked for, rate_in_force_hz at the end, and rate_least_hz; the interval of a part of a run. */
int qz_report_json__add_rate(json_t *object, const struct qz_profile *p);
/* Waits, blocked_ns, ready_ns and blocked_idle_ns; waits_ci_ns where the stacks of some are not known. */
int qz_report_json__add_waits(json_t *object, const struct qz_wait_figure *f);

#endif
