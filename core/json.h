/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports for programs: JSON of schema quartz.report/v1. Integers only, times in nanoseconds, keys
 * sorted; fields may be added within v1, none changes its meaning.
 */
#ifndef QUARTZ_CORE_JSON_H
#define QUARTZ_CORE_JSON_H

#include <jansson.h>

#include "core/report.h"

/*
 * The document for one or more reports on the same profile, each with the first max_rows rows of
 * these kinds (core/ranking.h). Gives a text that ends with a newline, to be freed, or NULL (errno
 * ENOMEM).
 */
char *qz_json__report(const struct qz_report *const *reports, uint32_t n, unsigned int kinds,
		      uint32_t max_rows);

/* Parts of it that other documents have too. NULL: memory was short. */
json_t *qz_json__text(const char *s);
json_t *qz_json__figure(const struct qz_report *r, const struct qz_figure *f);
json_t *qz_json__causes(const struct qz_profile *p, const struct qz_causes *causes);
json_t *qz_json__object(const struct qz_report *r, const struct qz_object_row *row);

/* The word for a kind of scope. */
const char *qz_json__scope_kind(const struct qz_scope *scope);

/* These add to an object. Other than 0: memory was short. */
/* "cgroup" and "unit", where they are known. */
int qz_json__add_cgroup(json_t *object, const struct qz_scope *scope);
/* Waits, blocked_ns and ready_ns. */
int qz_json__add_waits(json_t *object, const struct qz_wait_figure *f);

#endif
