/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/scale/scale_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/costs/cost_code.h"
#include "core/format/json_fields.h"

static json_t *whole(double ns)
{
	const double most = 9.2e18;

	return json_integer(llround(ns > most ? most : ns < -most ? -most : ns));
}

/* "NAME_ns" and "NAME_ci_ns", which is null where it is not known. */
static bool set_value(json_t *o, const char *name, const struct qz_scale_value *v)
{
	char key[64], ci[64];

	snprintf(key, sizeof(key), "%s_ns", name);
	snprintf(ci, sizeof(ci), "%s_ci_ns", name);
	return json_object_set_new(o, key, whole(v->value)) ||
	       json_object_set_new(o, ci, v->ci < 0 ? json_null() : whole(v->ci));
}

static json_t *speedups_of(const struct qz_scale_point *p)
{
	return json_pack("{si, sf, sf, sf, sf, so}", "linear", (int)p->processors, "maximal",
			 p->maximal, "idle_time_specific", p->idle_specific, "inflation_specific",
			 p->inflation_specific, "actual", p->actual.value, "actual_ci",
			 p->actual.ci < 0 ? json_null() : json_real(p->actual.ci));
}

static json_t *point_of(const struct qz_scale_point *p)
{
	json_t *o = json_object();
	bool failed = json_object_set_new(o, "processors", json_integer(p->processors)) ||
		      json_object_set_new(o, "runs", json_integer(p->runs)) ||
		      set_value(o, "elapsed", &p->elapsed) || set_value(o, "work", &p->work) ||
		      set_value(o, "idle", &p->idle) || set_value(o, "inflation", &p->inflation) ||
		      set_value(o, "spin", &p->spin) || set_value(o, "others", &p->others) ||
		      set_value(o, "quartz", &p->quartz) || set_value(o, "late", &p->late) ||
		      set_value(o, "lacking", &p->lacking) ||
		      json_object_set_new(o, "speedup", speedups_of(p));

	return qz_json_fields__unless(failed, o);
}

static json_t *points_of(const struct qz_scale *s)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < s->n; i++)
		failed = json_array_append_new(array, point_of(&s->points[i]));
	return qz_json_fields__unless(failed, array);
}

static json_t *row_at(const struct qz_scale *s, const struct qz_scale_row *row, uint32_t point)
{
	json_t *o = json_object();
	bool failed =
		json_object_set_new(o, "processors", json_integer(s->points[point].processors)) ||
		set_value(o, "work", &row->work[point]) ||
		set_value(o, "inflation", &row->inflation[point]) ||
		set_value(o, "beside", &row->beside[point]);

	return qz_json_fields__unless(failed, o);
}

static json_t *row_of(const struct qz_scale *s, const struct qz_identities *ids,
		      const struct qz_scale_row *row)
{
	struct qz_identity id = qz_identities__get(ids, row->identity);
	char *module = strndup(id.module, (size_t)id.module_length);
	json_t *o = json_object(), *at = json_array();
	bool failed = !module || !at;

	for (uint32_t i = 0; !failed && i < s->n; i++)
		failed = json_array_append_new(at, row_at(s, row, i));
	failed = failed || json_object_set_new(o, "name", qz_json_fields__text(id.name)) ||
		 json_object_set_new(o, "module", qz_json_fields__text(module)) ||
		 json_object_set_new(o, "samples", qz_json_fields__integer(row->samples)) ||
		 json_object_set(o, "processors", at);
	json_decref(at);
	free(module);
	return qz_json_fields__unless(failed, o);
}

static json_t *word_of(const struct qz_identities *ids, const struct qz_scale_row *class)
{
	const char *name = qz_identities__get(ids, class->identity).name;

	return json_string(qz_cost__word(qz_cost__by_name(name)));
}

/* A class of processor time, with spinning. */
static json_t *class_of(const struct qz_scale *s, const struct qz_identities *ids,
			const struct qz_scale_row *class)
{
	json_t *o = json_object(), *at = json_array();
	bool failed = !at;

	for (uint32_t i = 0; !failed && i < s->n; i++) {
		json_t *value = json_object();

		failed = json_object_set_new(value, "processors",
					     json_integer(s->points[i].processors)) ||
			 set_value(value, "cpu", &class->work[i]) ||
			 set_value(value, "growth", &class->inflation[i]);
		failed = json_array_append_new(at, qz_json_fields__unless(failed, value));
	}
	failed = failed || json_object_set_new(o, "class", word_of(ids, class)) ||
		 json_object_set_new(o, "samples", qz_json_fields__integer(class->samples)) ||
		 json_object_set(o, "processors", at);
	json_decref(at);
	return qz_json_fields__unless(failed, o);
}

/* The one that grows; null: none does. */
static json_t *growing_of(const struct qz_scale *s, const struct qz_identities *ids)
{
	const struct qz_scale_row *class = qz_scale__growing(s);

	return class ? word_of(ids, class) : json_null();
}

static json_t *classes_of(const struct qz_scale *s, const struct qz_identities *ids)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < s->nclasses; i++)
		failed = json_array_append_new(array, class_of(s, ids, &s->classes[i]));
	return qz_json_fields__unless(failed, array);
}

static json_t *cause_of(const struct qz_scale *s, const struct qz_identities *ids,
			const struct qz_scale_cause *c)
{
	static const char *const kinds[QZ_IDLE_CAUSE_KINDS] = {
		[QZ_IDLE_CAUSE_WAIT] = "wait",	     [QZ_IDLE_CAUSE_JOIN] = "join",
		[QZ_IDLE_CAUSE_NO_WORK] = "no_work", [QZ_IDLE_CAUSE_NO_THREAD] = "no_thread",
		[QZ_IDLE_CAUSE_OTHERS] = "others",   [QZ_IDLE_CAUSE_QUARTZ] = "quartz",
		[QZ_IDLE_CAUSE_LATE] = "late",	     [QZ_IDLE_CAUSE_SPIN] = "spin",
	};
	json_t *o = json_object(), *at = json_array(), *name;
	bool failed = !at;

	for (uint32_t i = 0; !failed && i < s->n; i++) {
		json_t *value = json_object();

		failed = json_object_set_new(value, "processors",
					     json_integer(s->points[i].processors)) ||
			 set_value(value, "idle", &c->idle[i]);
		failed = json_array_append_new(at, qz_json_fields__unless(failed, value));
	}
	name = c->identity == QZ_NONE
		       ? json_null()
		       : qz_json_fields__text(qz_identities__get(ids, c->identity).name);
	failed = failed || json_object_set_new(o, "kind", json_string(kinds[c->kind])) ||
		 json_object_set(o, "name", name) || json_object_set(o, "processors", at);
	json_decref(name);
	json_decref(at);
	return qz_json_fields__unless(failed, o);
}

static json_t *sentences_of(const struct qz_gaps *gaps)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < gaps->n; i++)
		failed = json_array_append_new(array, json_string(gaps->sentences[i]));
	return qz_json_fields__unless(failed, array);
}

json_t *qz_scale_json__of(const struct qz_scale *s, const struct qz_identities *ids,
			  const struct qz_gaps *gaps, const char *command, uint32_t max_rows)
{
	json_t *o = json_object(), *rows = json_array(), *causes = json_array();
	bool failed = !rows || !causes;

	for (uint32_t i = 0; !failed && i < s->nrows && i < max_rows; i++)
		failed = json_array_append_new(rows, row_of(s, ids, &s->rows[i]));
	for (uint32_t i = 0; !failed && i < s->ncauses && i < max_rows; i++)
		failed = json_array_append_new(causes, cause_of(s, ids, &s->causes[i]));
	failed = failed || json_object_set_new(o, "schema", json_string("quartz.scale/v1")) ||
		 json_object_set_new(o, "command", qz_json_fields__text(command)) ||
		 json_object_set_new(o, "has_baseline", json_boolean(s->has_baseline)) ||
		 set_value(o, "baseline", &s->baseline) ||
		 json_object_set_new(o, "processors", points_of(s)) ||
		 json_object_set_new(o, "classes", classes_of(s, ids)) ||
		 json_object_set_new(o, "class_that_grows", growing_of(s, ids)) ||
		 json_object_set(o, "procedures", rows) || json_object_set(o, "idle", causes) ||
		 json_object_set_new(o, "gaps", sentences_of(gaps));
	json_decref(rows);
	json_decref(causes);
	return qz_json_fields__unless(failed, o);
}
