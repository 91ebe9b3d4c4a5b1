/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes between two sides of profiles for programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison/comparison.h"
#include "core/costs/cost_code.h"
#include "core/format/json_fields.h"

/* Whole nanoseconds, within what a JSON integer holds. */
static json_t *whole(double ns)
{
	const double most = 9.2e18;

	return json_integer(llround(ns > most ? most : ns < -most ? -most : ns));
}

static json_t *change_of(const struct qz_change *c)
{
	return json_pack("{so, so, so, so}", "before_ns", whole(c->before), "after_ns",
			 whole(c->after), "change_ns", whole(qz_change__of(c)), "ci_ns",
			 whole(c->ci));
}

static json_t *run_of(const struct qz_run *run)
{
	json_t *o = json_object();
	bool failed = json_object_set_new(o, "comm", qz_json_fields__text(run->comm)) ||
		      json_object_set_new(o, "command", qz_json_fields__text(run->command)) ||
		      json_object_set_new(o, "verdict", qz_json_fields__text(run->verdict)) ||
		      json_object_set_new(o, "ended", json_boolean(run->ended)) ||
		      json_object_set_new(o, "processors", json_integer(run->processors)) ||
		      json_object_set_new(o, "rate_hz", json_integer(llround(run->rate_hz))) ||
		      json_object_set_new(o, "rate_least_hz",
					  json_integer(llround(run->least_rate_hz))) ||
		      json_object_set_new(o, "samples", qz_json_fields__integer(run->samples)) ||
		      json_object_set_new(o, "elapsed_ns", whole(run->elapsed_ns)) ||
		      json_object_set_new(o, "busy_ns", whole(run->busy_ns)) ||
		      json_object_set_new(o, "busy_cpu_ns", whole(run->busy_ns * run->parallelism));

	return qz_json_fields__unless(failed, o);
}

static json_t *runs_of(struct qz_run *const *runs, uint32_t n)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, run_of(runs[i]));
	return qz_json_fields__unless(failed, array);
}

static json_t *row_of(const struct compared_scope *s, const struct qz_compared *row)
{
	static const char *const kinds[QZ_IDENTITY_KINDS] = {
		[QZ_IDENTITY_PROCEDURE] = "procedure",	 [QZ_IDENTITY_KERNEL] = "kernel",
		[QZ_IDENTITY_NO_SAMPLES] = "no_samples", [QZ_IDENTITY_COST] = "instrumentation",
		[QZ_IDENTITY_OBJECT] = "object",	 [QZ_IDENTITY_THREADS] = "threads",
		[QZ_IDENTITY_WAITS] = "waits",		 [QZ_IDENTITY_CLASS] = "class",
	};
	struct qz_identity id = qz_identities__get(s->ids, row->identity);
	char *module = strndup(id.module, (size_t)id.module_length);
	json_t *o = json_object();
	bool failed = !module || json_object_set_new(o, "kind", json_string(kinds[id.kind])) ||
		      json_object_set_new(o, "name", qz_json_fields__text(id.name)) ||
		      json_object_set_new(o, "module", qz_json_fields__text(module)) ||
		      json_object_set_new(o, "in_before", json_boolean(row->in_before)) ||
		      json_object_set_new(o, "in_after", json_boolean(row->in_after)) ||
		      json_object_set_new(o, "beyond_chance", json_boolean(row->certain)) ||
		      json_object_set_new(o, "samples", qz_json_fields__integer(row->samples)) ||
		      json_object_set_new(o, "total", change_of(&row->total)) ||
		      json_object_set_new(o, "self", change_of(&row->self)) ||
		      json_object_set_new(o, "cpu", change_of(&row->cpu)) ||
		      json_object_set_new(o, "blocked", change_of(&row->blocked));

	free(module);
	return qz_json_fields__unless(failed, o);
}

/* What processor time was for, by class: of what is spun, normalized time is none. */
static json_t *classes_of(const struct compared_scope *s)
{
	json_t *o = json_object();
	bool failed = !o;

	for (uint32_t i = 0; !failed && i < s->classes->n; i++) {
		const struct qz_compared *row = &s->classes->rows[i];

		failed = json_object_set_new(o, qz_identities__get(s->ids, row->identity).name,
					     json_pack("{so, so, sb, so}", "cpu",
						       change_of(&row->cpu), "normalized",
						       change_of(&row->total), "beyond_chance",
						       row->certain, "samples",
						       qz_json_fields__integer(row->samples))) != 0;
	}
	return qz_json_fields__unless(failed, o);
}

/* Blocked time by cause. */
static json_t *waits_of(const struct compared_scope *s)
{
	json_t *o = json_object();
	bool failed = !o;

	for (uint32_t i = 0; !failed && i < s->waits->n; i++) {
		const struct qz_compared *row = &s->waits->rows[i];
		char *name = output__escape(qz_identities__get(s->ids, row->identity).name);

		failed = !name || json_object_set_new(o, name, change_of(&row->blocked));
		free(name);
	}
	return qz_json_fields__unless(failed, o);
}

json_t *comparison__json(const struct compared_scope *s, uint32_t max_rows)
{
	const struct qz_comparison *c = s->comparison;
	json_t *o = json_object(), *rows = json_array();
	bool failed = !o || !rows;

	for (uint32_t i = 0; !failed && i < c->n && i < max_rows; i++)
		failed = json_array_append_new(rows, row_of(s, &c->rows[i]));
	failed = failed || json_object_set_new(o, "before", runs_of(s->before, c->nbefore)) ||
		 json_object_set_new(o, "after", runs_of(s->after, c->nafter)) ||
		 json_object_set_new(o, "elapsed", change_of(&c->elapsed)) ||
		 json_object_set_new(o, "cpu", change_of(&c->cpu)) ||
		 json_object_set_new(o, "idle", change_of(&c->idle)) ||
		 json_object_set_new(o, "serial", change_of(&c->serial)) ||
		 json_object_set_new(o, "classes", classes_of(s)) ||
		 json_object_set_new(o, "blocked", waits_of(s)) || json_object_set(o, "rows", rows);
	json_decref(rows);
	return qz_json_fields__unless(failed, o);
}
