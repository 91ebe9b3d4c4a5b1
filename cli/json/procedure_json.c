/* SPDX-License-Identifier: GPL-2.0-only */
/* One procedure for programs: JSON of schema quartz.procedure/v1. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/render/scope_view.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"

/* null: "itself" among callees, no caller among callers. */
static json_t *identity_of(const struct qz_report *r, uint32_t procedure)
{
	return procedure == QZ_NONE ? json_null() : procedure_name__json(r->profile, procedure);
}

static json_t *figure_of(const struct qz_report *r, const struct qz_figure *f,
			 const struct qz_wait_figure *waits)
{
	json_t *object = qz_report_json__figure(r, f);

	return qz_json_fields__unless(qz_report_json__add_waits(object, waits), object);
}

static json_t *edge_of(const struct qz_report *r, const struct qz_edge *e)
{
	static const char *const ways[QZ_PROCEDURE_KINDS] = {
		[QZ_PROCEDURE] = "call",
		[QZ_THREAD_START] = "thread_start",
		[QZ_PROCESS_START] = "process_start",
		[QZ_TRUNCATED] = "truncated",
		[QZ_UNATTRIBUTED] = "unattributed",
		[QZ_INSTRUMENTATION] = "instrumentation",
	};

	return json_pack("{so, ss, so, so}", "procedure", identity_of(r, e->procedure), "via",
			 ways[e->via], "total", figure_of(r, &e->figure, &e->waits), "calls",
			 e->calls ? qz_json_fields__integer(e->calls) : json_null());
}

typedef int find_edges(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
		       uint32_t *n);

static json_t *edges_of(const struct qz_report *r, uint32_t procedure, find_edges *find)
{
	json_t *array = json_array();
	struct qz_edge *edges = NULL;
	uint32_t n = 0;
	bool failed = !array || find(r, procedure, &edges, &n);

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, edge_of(r, &edges[i]));
	qz_call_graph__free(edges, n);
	if (!failed)
		return array;
	json_decref(array);
	return NULL;
}

json_t *procedure__json(const struct qz_report *r, const struct qz_row *row)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];

	return json_pack("{si, so, sI, so, so, so, so, so, so}", "pid", scope->pid, "comm",
			 qz_json_fields__text(scope->comm), "elapsed_ns", (json_int_t)r->elapsed_ns,
			 "procedure", identity_of(r, row->procedure), "self",
			 figure_of(r, &row->self, &row->self_waits), "total",
			 figure_of(r, &row->total, &row->total_waits), "states",
			 states__json(r, qz_state_breakdown__of_procedure, row->procedure),
			 "callees", edges_of(r, row->procedure, qz_call_graph__callees), "callers",
			 edges_of(r, row->procedure, qz_call_graph__callers));
}
