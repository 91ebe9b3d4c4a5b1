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

static json_t *line_of(const struct qz_report *r, const struct annotation *a,
		       const struct qz_code_time *t)
{
	bool known = t->line && t->line <= a->source->n;
	json_t *object = json_object();
	bool failed = json_object_set_new(object, "line",
					  t->line ? json_integer(t->line) : json_null()) ||
		      json_object_set_new(object, "text",
					  text_of(known ? source_file__line(a->source, t->line)
							: NULL)) ||
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
		json_object_set_new(object, "line",
				    t->line ? json_integer(t->line) : json_null()) ||
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
		json_object_set_new(scope, "source",
				    text_of(a->source->n ? a->source->path : NULL)) ||
		json_object_set_new(scope, "rows_total", json_integer(a->n)) ||
		json_object_set_new(scope, a->assembly ? "instructions" : "lines",
				    rows_of(r, a, max));

	return qz_json_fields__unless(failed, scope);
}
