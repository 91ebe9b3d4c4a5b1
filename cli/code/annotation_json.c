/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines or instructions for programs: a scope of schema quartz.annotate/v1. */
#include <stdlib.h>

#include "cli/code/excerpt.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"

static json_t *text_of(const char *text)
{
	return text ? qz_json_fields__text(text) : json_null();
}

/* The text of a line, NULL when it is not known. */
static const char *source_of(const struct annotation *a, const struct qz_code_time *t)
{
	for (uint32_t i = 0; i < a->nfiles; i++)
		if (a->files[i].part == t->part && t->line && t->line <= a->files[i].source.n)
			return source_file__line(&a->files[i].source, t->line);
	return NULL;
}

/* Sets the file and the line of a time. */
static bool set_place(json_t *object, const struct qz_report *r, const struct annotation *a,
		      const struct qz_code_time *t)
{
	const char *file = excerpt__file(r, a, t->part);

	return json_object_set_new(object, "file", text_of(t->line && *file ? file : NULL)) ||
	       json_object_set_new(object, "line", t->line ? json_integer(t->line) : json_null());
}

static json_t *line_of(const struct qz_report *r, const struct annotation *a,
		       const struct qz_code_time *t)
{
	json_t *object = json_object();
	bool failed = set_place(object, r, a, t) ||
		      json_object_set_new(object, "text", text_of(source_of(a, t))) ||
		      json_object_set_new(object, "self", qz_report_json__figure(r, &t->figure));

	return qz_json_fields__unless(failed, object);
}

static json_t *instruction_of(const struct qz_report *r, const struct annotation *a,
			      const struct qz_code_time *t)
{
	uint32_t i = excerpt__instruction(a->assembly, t);
	const struct instruction *hit = i < a->assembly->n ? &a->assembly->instructions[i] : NULL;
	json_t *object = json_object();
	bool failed =
		json_object_set_new(object, "address",
				    hit ? qz_json_fields__integer(hit->address) : json_null()) ||
		set_place(object, r, a, t) ||
		json_object_set_new(object, "text", text_of(hit ? hit->text : NULL)) ||
		json_object_set_new(object, "self", qz_report_json__figure(r, &t->figure));

	return qz_json_fields__unless(failed, object);
}

static json_t *rows_of(const struct qz_report *r, const struct annotation *a, uint32_t max)
{
	bool *chosen = annotation__choose(a, max < a->n ? max : a->n);
	json_t *rows = json_array();
	bool failed = !chosen || !rows;

	for (uint32_t i = 0; !failed && i < a->n; i++)
		if (chosen[i])
			failed = json_array_append_new(
				rows, a->assembly ? instruction_of(r, a, &a->times[i])
						  : line_of(r, a, &a->times[i]));
	free(chosen);
	return qz_json_fields__unless(failed, rows);
}

json_t *annotation__json(const struct qz_report *r, const struct annotation *a, uint32_t max)
{
	json_t *scope = scope__json(r);
	bool failed =
		json_object_set_new(scope, "procedure",
				    procedure_name__json(r->profile, a->row->procedure)) ||
		json_object_set_new(scope, "self", qz_report_json__figure(r, &a->row->self)) ||
		json_object_set_new(scope, "source", text_of(annotation__own_path(a))) ||
		json_object_set_new(scope, "rows_total", json_integer(a->n)) ||
		json_object_set_new(scope, a->assembly ? "instructions" : "lines",
				    rows_of(r, a, max));

	return qz_json_fields__unless(failed, scope);
}
