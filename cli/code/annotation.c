/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/annotation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/code/excerpt.h"
#include "cli/render/cells.h"

#define TAB	 8
#define MAX_TEXT 1000 /* characters of a line */

/* ---- which of them ---- */

static int compare_descending(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a < b) - (a > b);
}

bool *annotation__choose(const struct annotation *a, uint32_t max)
{
	bool *chosen = calloc(a->n ? a->n : 1, sizeof(*chosen));
	uint64_t *order = calloc(a->n ? a->n : 1, sizeof(*order)), least = 0;
	uint32_t equal = max; /* of the least that are shown, the first so many */

	if (!chosen || !order) {
		free(chosen);
		free(order);
		return NULL;
	}
	for (uint32_t i = 0; i < a->n; i++)
		order[i] = a->times[i].figure.cpu_ns;
	qsort(order, a->n, sizeof(*order), compare_descending);
	if (max < a->n)
		least = max ? order[max - 1] : UINT64_MAX;
	for (uint32_t i = 0; i < a->n && order[i] > least; i++)
		equal--;
	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t cpu = a->times[i].figure.cpu_ns;

		chosen[i] = cpu > least || (cpu == least && equal);
		equal -= cpu == least && equal;
	}
	free(order);
	return chosen;
}

/* ---- files ---- */

const char *annotation__own_path(const struct annotation *a)
{
	return a->nfiles && !a->files->part && a->files->source.n ? a->files->source.path : NULL;
}

/* ---- rows ---- */

/* Escaped, with blanks for tabs. */
static char *format_text(const char *text)
{
	char plain[MAX_TEXT + TAB + 1];
	size_t n = 0;

	for (; *text && n < MAX_TEXT; text++) {
		if (*text != '\t') {
			plain[n++] = *text;
			continue;
		}
		do {
			plain[n++] = ' ';
		} while (n % TAB);
	}
	plain[n] = 0;
	return output__escape(plain);
}

static void add_figures(const struct scope_view *s, struct text_table *table,
			const struct qz_figure *f)
{
	cells__add_norm(s, table, f);
	cells__add_cpu(s, table, f);
	cells__add_parallelism(table, f);
	if (s->report->spin_ns)
		cells__add_spun(s, table, f);
}

static void add_nothing(const struct scope_view *s, struct text_table *table)
{
	for (int i = s->report->spin_ns ? 5 : 4; i; i--)
		text_table__add(table, PLAIN, "%s", "");
}

/* f: NULL where there are no figures. */
static void add_row(const struct scope_view *s, struct text_table *table, const struct qz_figure *f,
		    const char *place, const char *text)
{
	if (f)
		add_figures(s, table, f);
	else
		add_nothing(s, table);
	text_table__add(table, PLAIN, "%s", place);
	text_table__take(table, format_text(text));
}

static int make_heads(const struct scope_view *s, struct column *heads, bool assembly)
{
	int n = 0;

	heads[n++] = (struct column) {{"self", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	heads[n++] = (struct column) {{"self", "CPU s"}};
	heads[n++] = (struct column) {{"paral-", "lelism"}};
	if (s->report->spin_ns)
		heads[n++] = (struct column) {{"spin", "s"}};
	heads[n++] = (struct column) {{"", assembly ? "address" : "line"}};
	heads[n++] = (struct column) {{"", assembly ? "instruction" : "source"}, .left = true};
	return n;
}

static void add_rows(const struct scope_view *s, struct text_table *table,
		     const struct annotation *a, const struct excerpt *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const struct excerpt_row *row = &e->rows[i];
		char place[24] = "";

		if (row->is_file)
			snprintf(place, sizeof(place), "file");
		else if (row->text && !row->number)
			snprintf(place, sizeof(place), "?");
		else if (row->text)
			snprintf(place, sizeof(place), a->assembly ? "%" PRIx64 : "%" PRIu64,
				 row->number);
		add_row(s, table, row->time == QZ_NONE ? NULL : &a->times[row->time].figure, place,
			row->text ? row->text : "...");
	}
}

/* ---- the annotation ---- */

/* "work in /usr/bin/verify, verify.c:12", and its self time, which the rows add up to. */
static int print_head(const struct scope_view *s, const struct annotation *a)
{
	const struct qz_procedure *p = &s->report->profile->procedures[a->row->procedure];
	char *name = output__escape(p->name), *module = output__escape(p->module);
	char *file = output__escape(annotation__own_path(a) ?: p->file);
	bool complete = name && module && file;

	if (complete) {
		fprintf(s->out->file, "%s%s%s", name, *module ? " in " : "", module);
		if (*file)
			fprintf(s->out->file, ", %s:%" PRIu32, file, p->line);
		fputs("\nself ", s->out->file);
		cells__print_norm(s, &a->row->self);
		fprintf(s->out->file, " of the elapsed %.*f s\n\n", s->decimals,
			(double)s->report->elapsed_ns / 1e9);
	}
	free(file);
	free(module);
	free(name);
	return complete ? 0 : -ENOMEM;
}

static int print_table(const struct scope_view *s, const struct annotation *a, const bool *chosen)
{
	struct column heads[7];
	struct text_table *table;
	struct excerpt e;
	int err = a->assembly ? excerpt__instructions(&e, a, chosen)
			      : excerpt__lines(&e, s->report, a, chosen);

	if (err) {
		excerpt__free(&e);
		return err;
	}
	table = text_table__new(heads, make_heads(s, heads, a->assembly));
	add_rows(s, table, a, &e);
	excerpt__free(&e);
	return text_table__print(table, s->out);
}

int annotation__print(const struct scope_view *s, const struct annotation *a)
{
	uint32_t shown = cells__rows_wanted(s->config, 0, a->n);
	bool *chosen = annotation__choose(a, shown);
	int err = chosen ? print_head(s, a) : -ENOMEM;

	if (!err)
		err = print_table(s, a, chosen);
	free(chosen);
	if (!err)
		cells__print_rest(s, a->n, shown,
				  a->assembly ? "instructions with samples" : "lines with samples");
	return err;
}
