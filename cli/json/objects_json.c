/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects and wake-ups for programs: scopes of the schemas quartz.objects/v1, quartz.object/v1 and
 * quartz.woken/v1.
 */
#include <stdlib.h>

#include "cli/render/scope_view.h"
#include "core/model/objects.h"
#include "core/report/idle_time.h"
#include "core/report/wakeup_report.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"
#include "core/report/figure.h"

json_t *scope__json(const struct qz_report *r)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	json_t *object = json_object();
	bool failed =
		json_object_set_new(object, "pid", json_integer(scope->pid)) ||
		json_object_set_new(object, "comm", qz_json_fields__text(scope->comm)) ||
		json_object_set_new(object, "elapsed_ns", qz_json_fields__integer(r->elapsed_ns));

	return qz_json_fields__unless(failed, object);
}

json_t *procedure_name__json(const struct qz_profile *p, uint32_t procedure)
{
	const struct qz_procedure *proc = &p->procedures[procedure];
	json_t *object = json_object();
	bool failed = json_object_set_new(object, "name", qz_json_fields__text(proc->name)) ||
		      json_object_set_new(object, "module", qz_json_fields__text(proc->module)) ||
		      json_object_set_new(object, "file", qz_json_fields__text(proc->file)) ||
		      json_object_set_new(object, "line", json_integer(proc->line));

	return qz_json_fields__unless(failed, object);
}

/* ---- idle time ---- */

static json_t *idle_row_of(const struct qz_report *r, const struct qz_idle_row *row)
{
	static const char *const kinds[] = {"blocked", "ready", "work", "unknown"};
	const struct qz_profile *p = r->profile;
	json_t *object = json_object(), *name = json_null();
	bool failed;

	if (row->object != QZ_NONE) {
		char *label = qz_objects__label(&p->objects[row->object]);

		name = label ? qz_json_fields__text(label) : NULL;
		free(label);
	}
	failed = json_object_set_new(object, "object", name) ||
		 json_object_set_new(object, "kind", json_string(kinds[row->kind])) ||
		 json_object_set_new(object, "cause",
				     row->cause == QZ_NONE
					     ? json_null()
					     : qz_json_fields__text(p->causes[row->cause])) ||
		 json_object_set_new(object, "idle_ns", qz_json_fields__integer(row->idle_ns));
	return qz_json_fields__unless(failed, object);
}

static json_t *idle_of(const struct qz_report *r)
{
	json_t *array = json_array();
	struct qz_idle idle;
	bool failed = qz_idle_time__find(r, &idle) || !array;

	for (uint32_t i = 0; !failed && i < idle.n; i++)
		failed = json_array_append_new(array, idle_row_of(r, &idle.rows[i])) != 0;
	free(idle.rows);
	return qz_json_fields__unless(failed, array);
}

/* ---- objects ---- */

json_t *objects__json(const struct qz_report *r, uint32_t max_rows)
{
	json_t *scope = scope__json(r), *rows = json_array();
	bool failed = !scope || !rows;

	for (uint32_t i = 0; !failed && i < r->nobjects && i < max_rows; i++)
		failed = json_array_append_new(rows, qz_report_json__object(r, &r->objects[i])) !=
			 0;
	failed = json_object_set_new(scope, "objects_total", json_integer(r->nobjects)) || failed;
	failed = json_object_set(scope, "objects", rows) || failed;
	failed = json_object_set_new(scope, "idle", idle_of(r)) || failed;
	json_decref(rows);
	return qz_json_fields__unless(failed, scope);
}

/* ---- one object ---- */

static json_t *frames_of(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	json_t *array = json_array();
	bool failed = !array;
	uint32_t procedure;

	while (!failed && (procedure = qz_frames__next(&frames)) != QZ_NONE)
		failed = json_array_append_new(
				 array, qz_json_fields__text(p->procedures[procedure].name)) != 0;
	return qz_json_fields__unless(failed, array);
}

static json_t *waiter_of(const struct qz_profile *p, const struct qz_stack_row *row)
{
	json_t *object = json_object();
	bool failed = qz_report_json__add_waits(object, &row->waits) ||
		      json_object_set_new(object, "stack", frames_of(p, row->node));

	return qz_json_fields__unless(failed, object);
}

static json_t *spinner_of(const struct qz_profile *p, const struct qz_stack_row *row)
{
	json_t *object = json_object();
	bool failed =
		json_object_set_new(object, "spin_ns", qz_json_fields__integer(row->spin_ns)) ||
		json_object_set_new(object, "stack", frames_of(p, row->node));

	return qz_json_fields__unless(failed, object);
}

static json_t *waker_of(const struct qz_profile *p, const struct qz_stack_row *row)
{
	json_t *object = json_object();
	bool failed =
		json_object_set_new(object, "wakes", qz_json_fields__integer(row->wakes)) ||
		json_object_set_new(object, "woken_ns", qz_json_fields__integer(row->woken_ns)) ||
		json_object_set_new(object, "stack", frames_of(p, row->node));

	return qz_json_fields__unless(failed, object);
}

typedef int find_stacks(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
			uint32_t *n);
typedef json_t *make_stack(const struct qz_profile *p, const struct qz_stack_row *row);

static json_t *stacks_of(const struct qz_report *r, uint32_t object, find_stacks *find,
			 make_stack *make)
{
	json_t *array = json_array();
	struct qz_stack_row *rows = NULL;
	uint32_t n = 0;
	bool failed = !array || find(r, object, &rows, &n);

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, make(r->profile, &rows[i])) != 0;
	free(rows);
	return qz_json_fields__unless(failed, array);
}

json_t *object__json(const struct qz_report *r, const struct qz_object_row *row)
{
	uint32_t object = row->object;
	json_t *scope = scope__json(r);
	bool failed =
		json_object_set_new(scope, "object", qz_report_json__object(r, row)) ||
		json_object_set_new(scope, "states",
				    states__json(r, qz_state_breakdown__of_object, object)) ||
		json_object_set_new(scope, "waiters",
				    stacks_of(r, object, qz_wakeup_report__waiters, waiter_of)) ||
		json_object_set_new(scope, "spinners",
				    stacks_of(r, object, qz_wakeup_report__spinners, spinner_of)) ||
		json_object_set_new(scope, "wakers",
				    stacks_of(r, object, qz_wakeup_report__wakers, waker_of)) ||
		json_object_set_new(scope, "wakes_sampled",
				    json_boolean(r->profile->wakes_sampled));

	return qz_json_fields__unless(failed, scope);
}

/* ---- states, of procedures too ---- */

static json_t *all_states_of(const struct qz_report *r, const struct qz_states *states)
{
	static const char *const names[QZ_STATES] = {"busy", "spinning", "blocked", "ready"};
	json_t *object = json_object();
	bool failed = json_object_set_new(object, "waits",
					  qz_json_fields__integer(states->waits.count)) ||
		      json_object_set_new(object, "causes",
					  qz_report_json__causes(r->profile, &states->causes));

	for (int i = 0; !failed && i < QZ_STATES; i++) {
		json_t *state = json_object();

		failed = json_object_set_new(state, "ns",
					     qz_json_fields__integer(states->all[i].ns)) ||
			 json_object_set_new(state, "nominal_ns",
					     qz_json_fields__integers(states->all[i].nominal_ns,
								      r->nlevels + 1)) ||
			 json_object_set(object, names[i], state);
		json_decref(state);
	}
	return qz_json_fields__unless(failed, object);
}

json_t *states__json(const struct qz_report *r, find_states *find, uint32_t of)
{
	struct qz_states states;
	json_t *json = find(r, of, &states) ? NULL : all_states_of(r, &states);

	qz_state_breakdown__clear(&states);
	return json;
}

/* ---- time until woken ---- */

static json_t *woken_of(const struct qz_profile *p, const struct qz_woken_row *row)
{
	json_t *object = procedure_name__json(p, row->procedure);
	bool failed =
		json_object_set_new(object, "self_ns", qz_json_fields__integer(row->self_ns)) ||
		json_object_set_new(object, "total_ns", qz_json_fields__integer(row->total_ns)) ||
		json_object_set_new(object, "wakes", qz_json_fields__integer(row->wakes));

	return qz_json_fields__unless(failed, object);
}

json_t *wakeups__json(const struct qz_report *r, uint32_t max_rows)
{
	json_t *scope = scope__json(r), *rows = json_array();
	struct qz_woken woken;
	bool failed = qz_wakeup_report__woken(r, &woken) || !scope || !rows;

	for (uint32_t i = 0; !failed && i < woken.nrows && i < max_rows; i++)
		failed = json_array_append_new(rows, woken_of(r->profile, &woken.rows[i])) != 0;
	failed =
		failed ||
		json_object_set_new(scope, "woken_ns", qz_json_fields__integer(woken.woken_ns)) ||
		json_object_set_new(scope, "unattributed_ns",
				    qz_json_fields__integer(woken.unattributed_ns)) ||
		json_object_set_new(scope, "nobody_ns", qz_json_fields__integer(woken.nobody_ns)) ||
		json_object_set_new(scope, "nobody_wakes",
				    qz_json_fields__integer(woken.nobody_wakes)) ||
		json_object_set_new(scope, "nobody_futex_ns",
				    qz_json_fields__integer(woken.nobody_futex_ns)) ||
		json_object_set_new(scope, "idle_ns", qz_json_fields__integer(woken.idle_ns)) ||
		json_object_set_new(scope, "wakes", qz_json_fields__integer(woken.wakes)) ||
		json_object_set_new(scope, "rows_total", json_integer(woken.nrows)) ||
		json_object_set(scope, "rows", rows);
	json_decref(rows);
	free(woken.rows);
	return qz_json_fields__unless(failed, scope);
}
