/* SPDX-License-Identifier: GPL-2.0-only */
/* What processor time was for, for programs: scopes of the schema quartz.costs/v1. */
#include "cli/costs/costs.h"

#include <math.h>
#include <stdlib.h>

#include "core/costs/cost_table.h"
#include "core/costs/grain.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"

/* null when there is none. */
static json_t *name_of(const struct qz_report *r, uint32_t procedure)
{
	return procedure == QZ_NONE ? json_null() : procedure_name__json(r->profile, procedure);
}

static json_t *row_of(const struct qz_report *r, const struct qz_cost_row *row)
{
	json_t *object = qz_report_json__figure(r, &row->figure);
	bool failed = !object || json_object_set_new(object, "procedure", name_of(r, row->asker)) ||
		      json_object_set_new(object, "through", name_of(r, row->through)) ||
		      json_object_set_new(object, "origin",
					  json_string(qz_cost_origin__name(row->origin))) ||
		      json_object_set_new(object, "bulk_norm_ns",
					  qz_json_fields__integer(row->bulk_norm_ns));

	return qz_json_fields__unless(failed, object);
}

static json_t *class_of(const struct qz_report *r, const struct qz_cost_class *class,
			uint32_t max_rows)
{
	json_t *object = qz_report_json__figure(r, &class->figure), *rows = json_array();
	bool failed = !object || !rows;

	for (uint32_t i = 0; !failed && i < class->n && i < max_rows; i++)
		failed = json_array_append_new(rows, row_of(r, &class->rows[i])) != 0;
	failed = failed ||
		 json_object_set_new(object, "bulk_norm_ns",
				     qz_json_fields__integer(class->bulk_norm_ns)) ||
		 json_object_set_new(object, "rows_total", json_integer(class->n)) ||
		 json_object_set(object, "rows", rows);
	json_decref(rows);
	return qz_json_fields__unless(failed, object);
}

/* limit_ns null: the last one has none. */
static json_t *works_of(const struct qz_scope_counters *c)
{
	json_t *works = json_array();
	bool failed = !works;

	for (uint32_t i = 0; !failed && i < QZ_GRAINS; i++) {
		uint64_t limit = qz_grain__limit_ns(i);

		failed = json_array_append_new(
				 works,
				 json_pack("{so, so}", "below_ns",
					   limit == UINT64_MAX ? json_null()
							       : qz_json_fields__integer(limit),
					   "hand_overs", qz_json_fields__integer(c->grain[i]))) !=
			 0;
	}
	return qz_json_fields__unless(failed, works);
}

static json_t *transfers_of(const struct qz_grain *g)
{
	return json_pack("{so, so, so, so, so, so}", "reads",
			 qz_json_fields__integer(g->transfers.reads), "bytes_read",
			 qz_json_fields__integer(g->transfers.bytes_read), "read_ns",
			 json_integer(llround(g->read.ns)), "writes",
			 qz_json_fields__integer(g->transfers.writes), "bytes_written",
			 qz_json_fields__integer(g->transfers.bytes_written), "write_ns",
			 json_integer(llround(g->write.ns)));
}

static json_t *grain_of(const struct qz_report *r, const struct qz_cost_table *t)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	struct qz_grain g = qz_grain__find(scope, t);

	json_t *grain = json_pack("{so, so, so, so, so, so}", "threads_started",
				  qz_json_fields__integer(g.threads), "processes_started",
				  qz_json_fields__integer(g.processes), "hand_overs",
				  qz_json_fields__integer(g.hand_overs), "start_ns",
				  json_integer(llround(g.start.ns)), "hand_over_ns",
				  json_integer(llround(g.hand_over.ns)), "work",
				  works_of(&scope->counters));
	bool counted = g.transfers.reads || g.transfers.writes;
	bool failed = !grain ||
		      (counted && json_object_set_new(grain, "transfers", transfers_of(&g)));

	return qz_json_fields__unless(failed, grain);
}

static json_t *document_of(const struct qz_report *r, const struct qz_cost_table *t,
			   uint32_t max_rows)
{
	json_t *scope = scope__json(r), *classes = json_object();
	bool failed = !scope || !classes;

	for (int cost = 0; !failed && cost < QZ_COSTS; cost++)
		failed = json_object_set_new(classes, qz_cost__word((enum qz_cost)cost),
					     class_of(r, &t->classes[cost], max_rows)) != 0;
	failed = failed || json_object_set(scope, "classes", classes) ||
		 json_object_set_new(scope, "grain", grain_of(r, t)) ||
		 json_object_set_new(scope, "idle_ns", qz_json_fields__integer(r->idle_ns)) ||
		 json_object_set_new(scope, "unattributed_ns",
				     qz_json_fields__integer(r->unattributed_ns)) ||
		 json_object_set_new(scope, "instrumentation_ns",
				     qz_json_fields__integer(r->instrumentation_ns));
	json_decref(classes);
	return qz_json_fields__unless(failed, scope);
}

json_t *costs__json(const struct qz_report *r, uint32_t max_rows)
{
	struct qz_cost_table t;
	json_t *scope = NULL;

	if (!qz_cost_table__find(&t, r))
		scope = document_of(r, &t, max_rows);
	qz_cost_table__free(&t);
	return scope;
}
