/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One scope as text. A section is what all parts of this text need; the parts are the summary, the
 * tables of procedures, objects and threads, and the views of one procedure or object.
 */
#ifndef QUARTZ_CLI_SCOPE_VIEW_H
#define QUARTZ_CLI_SCOPE_VIEW_H

#include <jansson.h>

#include "cli/render/text_table.h"
#include "cli/render/names.h"
#include "core/advise/advise.h"
#include "core/report/state_breakdown.h"

struct scope_view {
	const struct config *config;
	const struct output *out;
	const struct qz_report *report;
	const struct qz_advice *advice;
	const struct names *names;
	int decimals; /* of seconds */
	bool *rough;  /* set where a figure was marked as one of few samples */
};

/*
 * The verdict, with the first findings where they are wanted, the quality of the samples, and what was measured.
 * 0 or -ENOMEM.
 */
int summary__print(const struct scope_view *s, bool findings);

/* Its lines on costs, spinning and waiting. 0 or -ENOMEM. */
int wait_summary__print(const struct scope_view *s);

/* 0 or -ENOMEM. */
int ranking__print(const struct scope_view *s);
int tree__print(const struct scope_view *s);
int procedure__print(const struct scope_view *s, const struct qz_row *row);
int threads__print(const struct scope_view *s);
int objects__print(const struct scope_view *s);

/* What threads waited for while nothing ran, if that was for long. 0 or -ENOMEM. */
int idle__print(const struct scope_view *s);
int object__print(const struct scope_view *s, const struct qz_object_row *row);
int wakeups__print(const struct scope_view *s);
int corun__print(const struct scope_view *s);
int pairs__print(const struct scope_view *s, uint32_t procedure);

/* One of those of core/report/state_breakdown.h: of a procedure, or of an object. */
typedef int find_states(const struct qz_report *r, uint32_t of, struct qz_states *states);

/* Parts of the views of one procedure or object, which has no self. 0 or -ENOMEM. */
int bars__print(const struct scope_view *s, const struct qz_figure *self,
		const struct qz_figure *total);
int states__print(const struct scope_view *s, find_states *find, uint32_t of);

/* The views of one scope for programs; NULL when memory ran out. */
json_t *procedure__json(const struct qz_report *r, const struct qz_row *row);
json_t *object__json(const struct qz_report *r, const struct qz_object_row *row);
json_t *objects__json(const struct qz_report *r, uint32_t max_rows);
json_t *states__json(const struct qz_report *r, find_states *find, uint32_t of);
json_t *wakeups__json(const struct qz_report *r, uint32_t max_rows);
json_t *corun__json(const struct qz_report *r, uint32_t max_rows);
json_t *pairs__json(const struct qz_report *r, uint32_t procedure, uint32_t max_rows);

/* What each scope of such a document begins with, and a procedure. */
json_t *scope__json(const struct qz_report *r);
json_t *procedure_name__json(const struct qz_profile *p, uint32_t procedure);

#endif
