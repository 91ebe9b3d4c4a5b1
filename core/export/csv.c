/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/export/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/report_json.h"
#include "core/util/term_escape.h"

static const char *const parts[] = {"self", "total"};

/* A cell that begins like a formula would be computed by a spreadsheet; after a ' it is text. */
static int put_text(FILE *out, const char *text)
{
	char *escaped = qz_term_escape__copy(text);

	if (!escaped)
		return -ENOMEM;
	fputs(*escaped && strchr("=+-@", *escaped) ? ",\"'" : ",\"", out);
	for (const char *c = escaped; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	free(escaped);
	return 0;
}

/* The numbers of both parts of a row, or their names. */
static void put_numbers(FILE *out, json_t *row, bool names)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		json_t *value;
		const char *key;

		json_object_foreach(json_object_get(row, parts[i]), key, value)
		{
			if (!json_is_integer(value))
				continue;
			if (names)
				fprintf(out, ",%s_%s", parts[i], key);
			else
				fprintf(out, ",%" JSON_INTEGER_FORMAT, json_integer_value(value));
		}
	}
	fputc('\n', out);
}

static int put_row(FILE *out, const struct qz_report *r, const struct qz_row *row, bool first)
{
	const struct qz_procedure *proc = &r->profile->procedures[row->procedure];
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	json_t *object = qz_report_json__procedure(r, row);
	int err = object ? 0 : -ENOMEM;

	if (err)
		return err;
	if (first) {
		fputs("scope_pid,scope,name,module,file,line", out);
		put_numbers(out, object, true);
	}
	fprintf(out, "%" PRId32, scope->pid);
	err = put_text(out, scope->comm);
	err = err ? err : put_text(out, proc->name);
	err = err ? err : put_text(out, proc->module);
	err = err ? err : put_text(out, proc->file);
	fprintf(out, ",%" PRIu32, proc->line);
	put_numbers(out, object, false);
	json_decref(object);
	return err;
}

int qz_csv__write(FILE *out, const struct qz_report *const *reports, uint32_t n)
{
	bool first = true;
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; !err && k < reports[i]->nrows; k++) {
			err = put_row(out, reports[i], &reports[i]->rows[k], first);
			first = false;
		}
	return err;
}
