/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/json.h"

#include <stdlib.h>

#include "core/fields.h"
#include "core/fields_profile.h"
#include "core/objects.h"
#include "core/ranking.h"
#include "core/unit.h"
#include "core/utf8.h"

#define SCHEMA "quartz.report/v1"

static const struct qz_field run_fields[] = {
	QZ_FIELD(U64, qz_profile, window_ns),  QZ_FIELD(U64, qz_profile, wall_start_ns),
	QZ_FIELD(U32, qz_profile, processors), QZ_FIELD(U32, qz_profile, rate_hz),
	QZ_FIELD(BOOL, qz_profile, live),      {0},
};

static const struct qz_field scope_fields[] = {
	QZ_FIELD(I32, qz_scope, pid),	     QZ_FIELD(U64, qz_scope, elapsed_ns),
	QZ_FIELD(U64, qz_scope, cpu_ns),     QZ_FIELD(U64, qz_scope, runnable_ns),
	QZ_FIELD(U64, qz_scope, samples),    QZ_FIELD(U64, qz_scope, truncated),
	QZ_FIELD(U64, qz_scope, unresolved), QZ_FIELD(U64, qz_scope, threads_seen),
	QZ_FIELD(U64, qz_scope, creations),  QZ_FIELD(U64, qz_scope, creations_lost),
	QZ_FIELD(U64, qz_scope, spin_turns), QZ_FIELD(U64, qz_scope, limited),
	QZ_FIELD(BOOL, qz_scope, ended),     {0},
};

static const struct qz_field report_fields[] = {
	QZ_FIELD(U64, qz_report, idle_ns),
	QZ_FIELD(U64, qz_report, serial_ns),
	QZ_FIELD(U64, qz_report, busy_ns),
	QZ_FIELD(U64, qz_report, spin_ns),
	QZ_FIELD(U64, qz_report, unattributed_ns),
	QZ_FIELD(U64, qz_report, instrumentation_ns),
	QZ_FIELD(U64, qz_report, instrumentation_cpu_ns),
	{0},
};

static const struct qz_field figure_fields[] = {
	QZ_FIELD(U64, qz_figure, norm_ns),
	QZ_FIELD(U64, qz_figure, cpu_ns),
	QZ_FIELD(U64, qz_figure, spin_ns),
	QZ_FIELD(U64, qz_figure, samples),
	QZ_FIELD(U64, qz_figure, spin_samples),
	QZ_FIELD(U64, qz_figure, ci_ns),
	{0},
};

static const struct qz_field thread_fields[] = {
	QZ_FIELD(I32, qz_thread, tid),	      QZ_FIELD(I32, qz_thread, pid),
	QZ_FIELD(U64, qz_thread, start_ns),   QZ_FIELD(U64, qz_thread, end_ns),
	QZ_FIELD(U64, qz_thread, cpu_ns),     QZ_FIELD(U64, qz_thread, running_ns),
	QZ_FIELD(U64, qz_thread, ready_ns),   QZ_FIELD(U64, qz_thread, blocked_ns),
	QZ_FIELD(U64, qz_thread, unknown_ns), QZ_FIELD(BOOL, qz_thread, ended),
	QZ_FIELD(BOOL, qz_thread, merged),    {0},
};

/* Inode numbers may not fit; no address of user space does not. */
static const struct qz_field object_fields[] = {
	QZ_FIELD(I32, qz_object, pid),
	QZ_FIELD(U64, qz_object, address),
	QZ_FIELD(U32, qz_object, grouped),
	QZ_FIELD(U64, qz_object, waits),
	QZ_FIELD(U64, qz_object, wakes),
	QZ_FIELD(U64, qz_object, wait_ns),
	{0},
};

const char *qz_json__scope_kind(const struct qz_scope *scope)
{
	static const char *const kinds[QZ_SCOPE_KINDS] = {
		[QZ_SCOPE_PROCESS] = "process", [QZ_SCOPE_TREE] = "tree",
		[QZ_SCOPE_JOB] = "job",		[QZ_SCOPE_MACHINE] = "machine",
		[QZ_SCOPE_KERNEL] = "kernel",
	};

	return kinds[scope->kind];
}

json_t *qz_json__text(const char *s)
{
	char *valid = qz_utf8__replace(s);
	json_t *text = valid ? json_string(valid) : NULL;

	free(valid);
	return text;
}

int qz_json__add_cgroup(json_t *object, const struct qz_scope *scope)
{
	char unit[QZ_UNIT_LENGTH];

	if (!*scope->cgroup)
		return 0;
	qz_unit__of_cgroup(scope->cgroup, unit);
	return json_object_set_new(object, "cgroup", qz_json__text(scope->cgroup)) ||
	       (*unit && json_object_set_new(object, "unit", qz_json__text(unit)));
}

static json_t *ledger_of(const struct qz_ledger *l)
{
	json_t *object = qz_fields__object(qz_ledger_fields, l);
	bool failed =
		json_object_set_new(object, "lost", qz_fields__losses(l->losses, l->nlosses)) ||
		json_object_set_new(object, "events", qz_fields__losses(l->events, l->nevents));

	return qz_fields__unless(failed, object);
}

json_t *qz_json__figure(const struct qz_report *r, const struct qz_figure *f)
{
	json_t *object = qz_fields__object(figure_fields, f);
	bool failed = json_object_set_new(object, "level_cpu_ns",
					  qz_fields__integers(f->level_cpu_ns, r->nlevels)) != 0;

	return qz_fields__unless(failed, object);
}

int qz_json__add_waits(json_t *object, const struct qz_wait_figure *f)
{
	return json_object_set_new(object, "waits", qz_fields__integer(f->count)) ||
	       json_object_set_new(object, "blocked_ns", qz_fields__integer(f->blocked_ns)) ||
	       json_object_set_new(object, "ready_ns", qz_fields__integer(f->ready_ns));
}

json_t *qz_json__causes(const struct qz_profile *p, const struct qz_causes *causes)
{
	json_t *object = json_object();
	bool failed = !object;

	for (uint32_t i = 0; !failed && i < causes->n; i++) {
		const struct qz_cause_row *row = &causes->rows[i];
		char *name = qz_utf8__replace(p->causes[row->cause]);
		json_t *waits = json_object();

		failed = !name || qz_json__add_waits(waits, &row->waits) ||
			 json_object_set(object, name, waits);
		json_decref(waits);
		free(name);
	}
	return qz_fields__unless(failed, object);
}

/* ---- rows ---- */

static json_t *self_of(const struct qz_row *row)
{
	json_t *object = qz_fields__object(figure_fields, &row->self);

	return qz_fields__unless(qz_json__add_waits(object, &row->self_waits), object);
}

static json_t *total_of(const struct qz_report *r, const struct qz_row *row)
{
	json_t *object = qz_json__figure(r, &row->total);
	bool failed =
		qz_json__add_waits(object, &row->total_waits) ||
		json_object_set_new(object, "causes", qz_json__causes(r->profile, &row->causes));

	return qz_fields__unless(failed, object);
}

static json_t *procedure_of(const struct qz_report *r, const struct qz_row *row)
{
	const struct qz_procedure *proc = &r->profile->procedures[row->procedure];
	json_t *object = json_object();
	bool failed = json_object_set_new(object, "kind", json_string("procedure")) ||
		      json_object_set_new(object, "name", qz_json__text(proc->name)) ||
		      json_object_set_new(object, "module", qz_json__text(proc->module)) ||
		      json_object_set_new(object, "file", qz_json__text(proc->file)) ||
		      json_object_set_new(object, "line", json_integer(proc->line)) ||
		      json_object_set_new(object, "self", self_of(row)) ||
		      json_object_set_new(object, "total", total_of(r, row));

	return qz_fields__unless(failed, object);
}

json_t *qz_json__object(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];
	json_t *object = qz_json__figure(r, &row->figure);
	bool failed =
		!object || qz_fields__write(object, object_fields, o) ||
		json_object_set_new(object, "kind", json_string("object")) ||
		json_object_set_new(object, "object_kind",
				    json_string(qz_object__kind_name(o->kind))) ||
		json_object_set_new(object, "name", qz_json__text(o->name)) ||
		json_object_set_new(object, "module", qz_json__text(o->module)) ||
		json_object_set_new(object, "blocked_ns",
				    qz_fields__integer(row->waits.blocked_ns)) ||
		json_object_set_new(object, "ready_ns", qz_fields__integer(row->waits.ready_ns)) ||
		json_object_set_new(object, "queue_ns",
				    qz_fields__integers(o->queue_ns, QZ_QUEUE_LENGTHS)) ||
		json_object_set_new(object, "arrivals",
				    qz_fields__integers(o->arrivals, QZ_QUEUE_LENGTHS));

	return qz_fields__unless(failed, object);
}

/* null when there is none. */
static json_t *cause_of(const struct qz_profile *p, uint32_t cause)
{
	return cause == QZ_NONE ? json_null() : qz_json__text(p->causes[cause]);
}

static json_t *object_name_of(const struct qz_profile *p, uint32_t object)
{
	json_t *text;
	char *label;

	if (object == QZ_NONE)
		return json_null();
	label = qz_object__label(&p->objects[object]);
	text = label ? qz_json__text(label) : NULL;
	free(label);
	return text;
}

static json_t *thread_of(const struct qz_report *r, const struct qz_thread_row *row)
{
	const struct qz_profile *p = r->profile;
	const struct qz_thread *thread = &p->threads[row->thread];
	json_t *object = qz_fields__object(thread_fields, thread);
	const struct qz_figure *f = &row->figure;
	bool failed = json_object_set_new(object, "comm", qz_json__text(thread->comm)) ||
		      json_object_set_new(object, "name", qz_json__text(thread->name)) ||
		      json_object_set_new(object, "norm_ns", qz_fields__integer(f->norm_ns)) ||
		      json_object_set_new(object, "ci_ns", qz_fields__integer(f->ci_ns)) ||
		      json_object_set_new(object, "spin_ns", qz_fields__integer(f->spin_ns)) ||
		      json_object_set_new(object, "samples", qz_fields__integer(f->samples)) ||
		      json_object_set_new(object, "waits", qz_fields__integer(row->waits.count)) ||
		      json_object_set_new(object, "top_cause", cause_of(p, row->top_cause)) ||
		      json_object_set_new(object, "top_object", object_name_of(p, row->top_object));

	return qz_fields__unless(failed, object);
}

static json_t *ranked_of(const struct qz_report *r, const struct qz_ranked *ranked)
{
	json_t *object;

	switch (ranked->kind) {
	case QZ_RANK_PROCEDURES:
		return procedure_of(r, &r->rows[ranked->row]);
	case QZ_RANK_OBJECTS:
		return qz_json__object(r, &r->objects[ranked->row]);
	default:
		object = thread_of(r, &r->threads[ranked->row]);
		return qz_fields__unless(json_object_set_new(object, "kind", json_string("thread")),
					 object);
	}
}

static json_t *rows_of(const struct qz_report *r, unsigned int kinds, uint32_t max_rows)
{
	json_t *array = json_array();
	struct qz_ranked *ranking = NULL;
	uint32_t n = 0;
	bool failed = qz_report__rank(r, kinds, &ranking, &n) || !array;

	for (uint32_t i = 0; !failed && i < n && i < max_rows; i++)
		failed = json_array_append_new(array, ranked_of(r, &ranking[i])) != 0;
	free(ranking);
	return qz_fields__unless(failed, array);
}

static json_t *threads_of(const struct qz_report *r)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < r->nthreads; i++)
		failed = json_array_append_new(array, thread_of(r, &r->threads[i])) != 0;
	return qz_fields__unless(failed, array);
}

static json_t *scope_of(const struct qz_report *r, unsigned int kinds, uint32_t max_rows)
{
	const struct qz_ledger *l = &r->profile->ledger;
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	json_t *object = qz_fields__object(scope_fields, scope);
	bool failed =
		!object || qz_fields__write(object, report_fields, r) ||
		json_object_set_new(object, "kind", json_string(qz_json__scope_kind(scope))) ||
		json_object_set_new(object, "comm", qz_json__text(scope->comm)) ||
		json_object_set_new(object, "command", qz_json__text(scope->command)) ||
		qz_json__add_cgroup(object, scope) ||
		json_object_set_new(object, "level_ns",
				    qz_fields__integers(scope->level_ns, scope->nlevels)) ||
		json_object_set_new(object, "effective_ns",
				    qz_fields__integers(r->effective_ns, r->nlevels)) ||
		json_object_set_new(object, "lost", qz_fields__losses(l->losses, l->nlosses)) ||
		json_object_set_new(object, "stack_ends",
				    qz_fields__losses(scope->stack_ends, scope->nstack_ends)) ||
		json_object_set_new(object, "rows", rows_of(r, kinds, max_rows)) ||
		json_object_set_new(object, "rows_total", json_integer(r->nrows)) ||
		json_object_set_new(object, "objects_total", json_integer(r->nobjects)) ||
		qz_json__add_waits(object, &r->waits) ||
		json_object_set_new(object, "causes", qz_json__causes(r->profile, &r->causes)) ||
		json_object_set_new(object, "threads", threads_of(r));

	return qz_fields__unless(failed, object);
}

static json_t *scopes_of(const struct qz_report *const *reports, uint32_t n, unsigned int kinds,
			 uint32_t max_rows)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, scope_of(reports[i], kinds, max_rows)) != 0;
	return qz_fields__unless(failed, array);
}

static json_t *document_of(const struct qz_report *const *reports, uint32_t n, unsigned int kinds,
			   uint32_t max_rows)
{
	const struct qz_profile *p = reports[0]->profile;
	json_t *object = qz_fields__object(run_fields, p);
	bool failed =
		json_object_set_new(object, "schema", json_string(SCHEMA)) ||
		json_object_set_new(object, "quartz_version", qz_json__text(p->quartz_version)) ||
		json_object_set_new(object, "kernel", qz_json__text(p->kernel)) ||
		json_object_set_new(object, "machine", qz_json__text(p->machine)) ||
		json_object_set_new(object, "event", qz_json__text(p->event)) ||
		(p->ceiling_ppm &&
		 json_object_set_new(object, "costs", qz_fields__object(qz_cost_fields, p))) ||
		json_object_set_new(object, "ledger", ledger_of(&p->ledger)) ||
		json_object_set_new(object, "scopes", scopes_of(reports, n, kinds, max_rows));

	return qz_fields__unless(failed, object);
}

char *qz_json__report(const struct qz_report *const *reports, uint32_t n, unsigned int kinds,
		      uint32_t max_rows)
{
	json_t *document = document_of(reports, n, kinds, max_rows);
	char *text = qz_fields__dump(document, JSON_SORT_KEYS | JSON_INDENT(1));

	json_decref(document);
	return text;
}
