/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/report_json.h"

#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/format/json_fields.h"
#include "core/model/objects.h"
#include "core/report/goroutines.h"
#include "core/report/ranking.h"
#include "core/report/wait_report.h"
#include "core/model/allowed.h"
#include "core/util/systemd_unit.h"
#include "core/util/utf8.h"

#define SCHEMA "quartz.report/v1"

static const struct qz_field report_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_report, idle_ns),
	QZ_SHOWN_FIELD(U64, qz_report, serial_ns),
	QZ_SHOWN_FIELD(U64, qz_report, busy_ns),
	QZ_SHOWN_FIELD(U64, qz_report, spin_ns),
	QZ_SHOWN_FIELD(U64, qz_report, unattributed_ns),
	QZ_SHOWN_FIELD(U64, qz_report, instrumentation_ns),
	QZ_SHOWN_FIELD(U64, qz_report, instrumentation_cpu_ns),
	{0},
};

static const struct qz_field figure_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_figure, norm_ns),
	QZ_SHOWN_FIELD(U64, qz_figure, cpu_ns),
	QZ_SHOWN_FIELD(U64, qz_figure, spin_ns),
	QZ_SHOWN_FIELD(U64, qz_figure, samples),
	QZ_SHOWN_FIELD(U64, qz_figure, spin_samples),
	QZ_SHOWN_FIELD(U64, qz_figure, ci_ns),
	{0},
};

const char *qz_report_json__scope_kind(const struct qz_scope *scope)
{
	static const char *const kinds[QZ_SCOPE_KINDS] = {
		[QZ_SCOPE_PROCESS] = "process", [QZ_SCOPE_TREE] = "tree",
		[QZ_SCOPE_JOB] = "job",		[QZ_SCOPE_MACHINE] = "machine",
		[QZ_SCOPE_KERNEL] = "kernel",
	};

	return kinds[scope->kind];
}

int qz_report_json__add_cgroup(json_t *object, const struct qz_scope *scope)
{
	char unit[QZ_UNIT_LENGTH];

	if (!*scope->cgroup)
		return 0;
	qz_systemd_unit__of_cgroup(scope->cgroup, unit);
	return json_object_set_new(object, "cgroup", qz_json_fields__text(scope->cgroup)) ||
	       (*unit && json_object_set_new(object, "unit", qz_json_fields__text(unit)));
}

/* The processors that it may use, where something keeps others from it. */
static int add_allowed(json_t *object, const struct qz_report *r)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	struct qz_allowed a;
	json_t *allowed;

	qz_allowed__find(r->profile, r->scope, &a);
	if (!a.fewer && !s->quota_us)
		return 0;
	allowed = json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "processors",
			    (int)a.processors, "cpus", a.list, "cpuset",
			    qz_json_fields__text(s->cpuset), "quota_cgroup",
			    qz_json_fields__text(s->quota_cgroup), "quota_us",
			    qz_json_fields__integer(s->quota_us), "quota_period_us",
			    qz_json_fields__integer(s->quota_period_us), "throttled_ns",
			    qz_json_fields__integer(s->throttled_ns), "throttled_periods",
			    qz_json_fields__integer(s->throttled_periods), "quota_periods",
			    qz_json_fields__integer(s->quota_periods));
	return json_object_set_new(object, "allowed", allowed);
}

/* Of a part of a run, which one. */
static int add_interval(json_t *object, const struct qz_profile *p)
{
	json_t *interval;

	if (!p->interval_until_ns)
		return 0;
	interval = json_pack("{s:I, s:I}", "from_ns", (json_int_t)p->interval_from_ns, "until_ns",
			     (json_int_t)p->interval_until_ns);
	return json_object_set_new(object, "interval", interval);
}

int qz_report_json__add_rate(json_t *object, const struct qz_profile *p)
{
	return add_interval(object, p) ||
	       json_object_set_new(object, "rate_hz", json_integer(p->rate_hz)) ||
	       json_object_set_new(object, "rate_in_force_hz", json_real(qz_profile__rate(p))) ||
	       json_object_set_new(object, "rate_least_hz", json_real(qz_profile__least_rate(p)));
}

static json_t *ledger_of(const struct qz_ledger *l)
{
	json_t *object = qz_json_fields__object(qz_ledger_fields, l);
	bool failed = json_object_set_new(object, "lost",
					  qz_json_fields__losses(l->losses, l->nlosses)) != 0 ||
		      (l->noutside &&
		       json_object_set_new(object, "outside",
					   qz_json_fields__losses(l->outside, l->noutside)));

	return qz_json_fields__unless(failed, object);
}

json_t *qz_report_json__figure(const struct qz_report *r, const struct qz_figure *f)
{
	json_t *object = qz_json_fields__object(figure_fields, f);
	bool failed = json_object_set_new(object, "level_cpu_ns",
					  qz_json_fields__integers(f->level_cpu_ns, r->nlevels)) !=
		      0;

	return qz_json_fields__unless(failed, object);
}

int qz_report_json__add_waits(json_t *object, const struct qz_wait_figure *f)
{
	uint64_t ci = qz_wait_figure__ci(f);

	return json_object_set_new(object, "waits", qz_json_fields__integer(f->count)) ||
	       json_object_set_new(object, "blocked_ns", qz_json_fields__integer(f->blocked_ns)) ||
	       json_object_set_new(object, "ready_ns", qz_json_fields__integer(f->ready_ns)) ||
	       json_object_set_new(object, "blocked_idle_ns",
				   qz_json_fields__integer(f->idle_ns)) ||
	       json_object_set_new(object, "charged_idle_ns",
				   qz_json_fields__integer(f->charged_ns)) ||
	       (ci && json_object_set_new(object, "waits_ci_ns", qz_json_fields__integer(ci)));
}

json_t *qz_report_json__causes(const struct qz_profile *p, const struct qz_causes *causes)
{
	json_t *object = json_object();
	bool failed = !object;

	for (uint32_t i = 0; !failed && i < causes->n; i++) {
		const struct qz_cause_row *row = &causes->rows[i];
		char *name = qz_utf8__replace(p->causes[row->cause]);
		json_t *waits = json_object();

		failed = !name || qz_report_json__add_waits(waits, &row->waits) ||
			 json_object_set(object, name, waits);
		json_decref(waits);
		free(name);
	}
	return qz_json_fields__unless(failed, object);
}

/* ---- rows ---- */

static json_t *self_of(const struct qz_row *row)
{
	json_t *object = qz_json_fields__object(figure_fields, &row->self);

	return qz_json_fields__unless(qz_report_json__add_waits(object, &row->self_waits), object);
}

static json_t *total_of(const struct qz_report *r, const struct qz_row *row)
{
	json_t *object = qz_report_json__figure(r, &row->total);
	bool failed = qz_report_json__add_waits(object, &row->total_waits) ||
		      json_object_set_new(object, "causes",
					  qz_report_json__causes(r->profile, &row->causes));

	return qz_json_fields__unless(failed, object);
}

json_t *qz_report_json__procedure(const struct qz_report *r, const struct qz_row *row)
{
	const struct qz_procedure *proc = &r->profile->procedures[row->procedure];
	json_t *object = json_object();
	bool failed = json_object_set_new(object, "kind", json_string("procedure")) ||
		      json_object_set_new(object, "name", qz_json_fields__text(proc->name)) ||
		      json_object_set_new(object, "module", qz_json_fields__text(proc->module)) ||
		      json_object_set_new(object, "file", qz_json_fields__text(proc->file)) ||
		      json_object_set_new(object, "line", json_integer(proc->line)) ||
		      json_object_set_new(object, "self", self_of(row)) ||
		      json_object_set_new(object, "total", total_of(r, row));

	return qz_json_fields__unless(failed, object);
}

static const struct qz_field cost_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_object_cost, cost_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, queued_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, held_running_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, held_blocked_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, free_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, lock_ns),
	QZ_SHOWN_FIELD(U64, qz_object_cost, lock_cpu_ns),
	{0},
};

static const struct qz_field line_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_object, line_same),
	QZ_SHOWN_FIELD(U64, qz_object, line_alone),
	QZ_SHOWN_FIELD(U64, qz_object, line_there),
	QZ_SHOWN_FIELD(U64, qz_object, line_elsewhere),
	QZ_SHOWN_FIELD(U64, qz_object, line_elsewhere_alone),
	{0},
};

json_t *qz_report_json__object(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];
	json_t *object = qz_report_json__figure(r, &row->figure);
	uint64_t ci = qz_wait_figure__ci(&row->waits),
		 in_vain = qz_objects__in_vain(r->profile, row->object);
	bool failed =
		!object || qz_json_fields__write(object, qz_object_fields, o) ||
		(o->kind == QZ_OBJECT_LINE && qz_json_fields__write(object, line_fields, o)) ||
		(in_vain &&
		 json_object_set_new(object, "in_vain", qz_json_fields__integer(in_vain))) ||
		json_object_set_new(object, "kind", json_string("object")) ||
		json_object_set_new(object, "object_kind",
				    json_string(qz_objects__kind_name(o->kind))) ||
		json_object_set_new(object, "comm",
				    qz_json_fields__text(r->profile->scopes[o->scope].comm)) ||
		json_object_set_new(object, "blocked_ns",
				    qz_json_fields__integer(row->waits.blocked_ns)) ||
		json_object_set_new(object, "ready_ns",
				    qz_json_fields__integer(row->waits.ready_ns)) ||
		(ci && json_object_set_new(object, "waits_ci_ns", qz_json_fields__integer(ci))) ||
		json_object_set_new(object, "cost",
				    qz_json_fields__object(cost_fields, &row->cost));

	return qz_json_fields__unless(failed, object);
}

/* null when there is none. */
static json_t *cause_of(const struct qz_profile *p, uint32_t cause)
{
	return cause == QZ_NONE ? json_null() : qz_json_fields__text(p->causes[cause]);
}

static json_t *object_name_of(const struct qz_profile *p, uint32_t object)
{
	json_t *text;
	char *label;

	if (object == QZ_NONE)
		return json_null();
	label = qz_objects__label(&p->objects[object]);
	text = label ? qz_json_fields__text(label) : NULL;
	free(label);
	return text;
}

static const struct qz_field loop_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_loop, turns),	       QZ_SHOWN_FIELD(U64, qz_loop, turn_ns),
	QZ_SHOWN_FIELD(U64, qz_loop, blocks),	       QZ_SHOWN_FIELD(U64, qz_loop, block_ns),
	QZ_SHOWN_FIELD(U64, qz_loop, block_waited_ns), QZ_SHOWN_FIELD(U64, qz_loop, block_ready_ns),
	QZ_SHOWN_FIELD(U64, qz_loop, longest_ns),      {0},
};

static const struct qz_field transfer_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_transfers, reads),
	QZ_SHOWN_FIELD(U64, qz_transfers, bytes_read),
	QZ_SHOWN_FIELD(U64, qz_transfers, writes),
	QZ_SHOWN_FIELD(U64, qz_transfers, bytes_written),
	{0},
};

static json_t *thread_of(const struct qz_report *r, const struct qz_thread_row *row)
{
	const struct qz_profile *p = r->profile;
	const struct qz_thread *thread = &p->threads[row->thread];
	json_t *object = qz_json_fields__object(qz_thread_fields, thread);
	const struct qz_figure *f = &row->figure;
	bool failed =
		json_object_set_new(object, "norm_ns", qz_json_fields__integer(f->norm_ns)) ||
		json_object_set_new(object, "ci_ns", qz_json_fields__integer(f->ci_ns)) ||
		json_object_set_new(object, "spin_ns", qz_json_fields__integer(f->spin_ns)) ||
		json_object_set_new(object, "samples", qz_json_fields__integer(f->samples)) ||
		json_object_set_new(object, "waits", qz_json_fields__integer(row->waits.count)) ||
		json_object_set_new(object, "idle", json_boolean(r->idle[row->thread])) ||
		json_object_set_new(object, "top_cause", cause_of(p, row->top_cause)) ||
		json_object_set_new(object, "top_object", object_name_of(p, row->top_object)) ||
		(*thread->cpus &&
		 json_object_set_new(object, "cpus", qz_json_fields__text(thread->cpus))) ||
		(thread->loop.turns &&
		 json_object_set_new(object, "event_loop",
				     qz_json_fields__object(loop_fields, &thread->loop))) ||
		(thread->transfers.reads + thread->transfers.writes &&
		 json_object_set_new(object, "transfers",
				     qz_json_fields__object(transfer_fields, &thread->transfers)));

	return qz_json_fields__unless(failed, object);
}

static json_t *ranked_of(const struct qz_report *r, const struct qz_ranked *ranked)
{
	json_t *object;

	switch (ranked->kind) {
	case QZ_RANK_PROCEDURES:
		return qz_report_json__procedure(r, &r->rows[ranked->row]);
	case QZ_RANK_OBJECTS:
		return qz_report_json__object(r, &r->objects[ranked->row]);
	default:
		object = thread_of(r, &r->threads[ranked->row]);
		return qz_json_fields__unless(
			json_object_set_new(object, "kind", json_string("thread")), object);
	}
}

static json_t *rows_of(const struct qz_report *r, const struct qz_json_rows *which)
{
	json_t *array = json_array();
	struct qz_ranked *ranking = NULL;
	uint32_t n = 0;
	bool failed = qz_ranking__rows(r, which->kinds, &ranking, &n) || !array ||
		      (which->key && qz_ranking__sort(r, NULL, which->key, ranking, n));

	for (uint32_t i = 0; !failed && i < n && i < which->max; i++)
		failed = json_array_append_new(array, ranked_of(r, &ranking[i])) != 0;
	free(ranking);
	return qz_json_fields__unless(failed, array);
}

static json_t *threads_of(const struct qz_report *r)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < r->nthreads; i++)
		failed = json_array_append_new(array, thread_of(r, &r->threads[i])) != 0;
	return qz_json_fields__unless(failed, array);
}

static json_t *procedure_name(const struct qz_profile *p, uint32_t procedure)
{
	return procedure == QZ_NONE ? json_null()
				    : qz_json_fields__text(p->procedures[procedure].name);
}

static json_t *goroutine_of(const struct qz_report *r, const struct qz_goroutine_row *row)
{
	json_t *object = json_object();
	bool failed =
		json_object_set_new(object, "start", procedure_name(r->profile, row->start)) ||
		json_object_set_new(object, "creator", procedure_name(r->profile, row->creator)) ||
		json_object_set_new(object, "total", qz_report_json__figure(r, &row->figure)) ||
		json_object_set_new(object, "blocked_ns", qz_json_fields__integer(row->blocked_ns));

	return qz_json_fields__unless(failed, object);
}

/* Where there are any. */
static bool add_goroutines(json_t *object, const struct qz_report *r)
{
	struct qz_goroutines g;
	json_t *array = json_array();
	bool failed = qz_goroutines__find(r, &g) || !array;

	for (uint32_t i = 0; !failed && i < g.n; i++)
		failed = json_array_append_new(array, goroutine_of(r, &g.rows[i])) != 0;
	failed = failed || (g.n && json_object_set(object, "goroutines", array));
	json_decref(array);
	qz_goroutines__free(&g);
	return failed;
}

json_t *qz_report_json__scope(const struct qz_report *r)
{
	const struct qz_ledger *l = &r->profile->ledger;
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	json_t *object = qz_json_fields__object(qz_scope_fields, scope);
	bool failed = !object || qz_json_fields__write(object, report_fields, r) ||
		      json_object_set_new(object, "kind",
					  json_string(qz_report_json__scope_kind(scope))) ||
		      qz_report_json__add_cgroup(object, scope) || add_allowed(object, r) ||
		      json_object_set_new(object, "effective_ns",
					  qz_json_fields__integers(r->effective_ns, r->nlevels)) ||
		      json_object_set_new(object, "lost",
					  qz_json_fields__losses(l->losses, l->nlosses)) ||
		      json_object_set_new(object, "rows_total", json_integer(r->nrows)) ||
		      json_object_set_new(object, "objects_total", json_integer(r->nobjects)) ||
		      qz_report_json__add_waits(object, &r->waits) ||
		      json_object_set_new(object, "causes",
					  qz_report_json__causes(r->profile, &r->causes)) ||
		      json_object_set_new(object, "idle_threads", json_integer(r->nidle));

	return qz_json_fields__unless(failed, object);
}

static json_t *scope_of(const struct qz_report *r, const struct qz_json_rows *which)
{
	json_t *object = qz_report_json__scope(r);
	bool failed =
		json_object_set_new(object, "rows", rows_of(r, which)) ||
		json_object_set_new(object, "threads", threads_of(r)) ||
		add_goroutines(object, r) ||
		(which->timeline && json_object_set_new(object, "timeline", which->timeline(r)));

	return qz_json_fields__unless(failed, object);
}

static json_t *scopes_of(const struct qz_report *const *reports, uint32_t n,
			 const struct qz_json_rows *which)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, scope_of(reports[i], which)) != 0;
	return qz_json_fields__unless(failed, array);
}

json_t *qz_report_json__run(const struct qz_profile *p)
{
	json_t *object = qz_json_fields__object(qz_run_fields, p);
	bool failed =
		qz_report_json__add_rate(object, p) ||
		((p->ceiling_ppm || qz_costs__sum(&p->costs)) &&
		 json_object_set_new(object, "costs", qz_json_fields__object(qz_cost_fields, p))) ||
		json_object_set_new(object, "ledger", ledger_of(&p->ledger));

	return qz_json_fields__unless(failed, object);
}

static json_t *document_of(const struct qz_report *const *reports, uint32_t n,
			   const struct qz_json_rows *which)
{
	json_t *object = qz_report_json__run(reports[0]->profile);
	bool failed = json_object_set_new(object, "schema", json_string(SCHEMA)) ||
		      json_object_set_new(object, "scopes", scopes_of(reports, n, which));

	return qz_json_fields__unless(failed, object);
}

char *qz_report_json__report(const struct qz_report *const *reports, uint32_t n,
			     const struct qz_json_rows *which)
{
	json_t *document = document_of(reports, n, which);
	char *text = qz_json_fields__dump(document, JSON_SORT_KEYS | JSON_INDENT(1));

	json_decref(document);
	return text;
}
