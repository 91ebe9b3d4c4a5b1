/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One procedure, as in figure 1 of Anderson and Lazowska: its normalized time as bars over the
 * number of busy processors, and what that time is made of. Every figure here is normalized time,
 * so that the bars, the edges and the table of procedures add up to each other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"

/* ---- edges ---- */

static const char *describe_way(const struct qz_edge *e, bool callers)
{
	if (e->procedure == QZ_NONE && e->via == QZ_PROCEDURE)
		return callers ? "" : "self";
	switch (e->via) {
	case QZ_THREAD_START:
		return "thread start";
	case QZ_PROCESS_START:
		return "process start";
	case QZ_TRUNCATED:
		return "stack cut";
	default:
		return "call";
	}
}

static void add_calls(struct text_table *table, uint64_t calls)
{
	if (calls)
		text_table__add(table, PLAIN, "%" PRIu64, calls);
	else
		text_table__add(table, PLAIN, "%s", "");
}

static void add_edge(const struct scope_view *s, struct text_table *table, const struct qz_edge *e,
		     uint32_t procedure)
{
	bool callers = s->config->callers;
	bool self = e->procedure == QZ_NONE && !callers;
	char *name = self ? names__format(s->names, procedure) : NULL;

	cells__add_norm(s, table, &e->figure);
	cells__add_parallelism(table, &e->figure);
	cells__add_interval(s, table, &e->figure);
	if (s->report->spin_ns)
		cells__add_spun(s, table, &e->figure);
	if (s->report->waits.count)
		cells__add_blocked(s, table, &e->waits, false);
	if (s->report->profile->ncalls)
		add_calls(table, e->calls);
	text_table__add(table, PLAIN, "%s", describe_way(e, callers));
	if (name)
		text_table__add(table, PLAIN, "%s self", name);
	else if (self)
		text_table__take(table, NULL);
	else if (e->procedure != QZ_NONE)
		text_table__take(table, names__format(s->names, e->procedure));
	else
		text_table__add(table, PLAIN, e->via == QZ_PROCEDURE ? "(outermost)" : "(unknown)");
	free(name);
}

/* The procedure's own time comes last, as in the paper, and is never left out. */
static void add_edges(const struct scope_view *s, struct text_table *table,
		      const struct qz_edge *edges, uint32_t n, uint32_t procedure, uint32_t shown)
{
	for (uint32_t i = 0; i < n && shown; i++) {
		if (edges[i].procedure == QZ_NONE)
			continue;
		add_edge(s, table, &edges[i], procedure);
		shown--;
	}
	for (uint32_t i = 0; i < n; i++)
		if (edges[i].procedure == QZ_NONE)
			add_edge(s, table, &edges[i], procedure);
}

static uint32_t count_named(const struct qz_edge *edges, uint32_t n)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < n; i++)
		named += edges[i].procedure != QZ_NONE;
	return named;
}

static int make_heads(const struct scope_view *s, struct column *heads)
{
	int n = 0;

	heads[n++] = (struct column) {{"total", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	heads[n++] = (struct column) {{"paral-", "lelism"}};
	heads[n++] = (struct column) {{cells__plus_minus(s->out), "s"}};
	if (s->report->spin_ns)
		heads[n++] = (struct column) {{"spin", "s"}};
	if (s->report->waits.count)
		heads[n++] = (struct column) {{"blocked", "s"}};
	if (s->report->profile->ncalls)
		heads[n++] = (struct column) {{"", "calls"}};
	heads[n++] = (struct column) {{"", "by"}, .left = true};
	heads[n++] = (struct column) {{"", s->config->callers ? "caller" : "callee"}, .left = true};
	return n;
}

static int print_edges(const struct scope_view *s, uint32_t procedure)
{
	bool callers = s->config->callers;
	struct column heads[9];
	struct text_table *table;
	struct qz_edge *edges = NULL;
	uint32_t n = 0, named, shown;
	int err = callers ? qz_call_graph__callers(s->report, procedure, &edges, &n)
			  : qz_call_graph__callees(s->report, procedure, &edges, &n);

	if (err)
		return err;
	named = count_named(edges, n);
	shown = cells__rows_shown(s, named);
	table = text_table__new(heads, make_heads(s, heads));
	add_edges(s, table, edges, n, procedure, shown);
	qz_call_graph__free(edges, n);
	fputc('\n', s->out->file);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, named, shown, callers ? "callers" : "callees");
	return err;
}

/* "main in /usr/bin/verify, verify.c:12". */
static int print_identity(const struct scope_view *s, uint32_t procedure)
{
	const struct qz_procedure *p = &s->report->profile->procedures[procedure];
	char *name = output__escape(p->name), *module = output__escape(p->module);
	char *file = output__escape(p->file);
	bool complete = name && module && file;

	if (complete) {
		fprintf(s->out->file, "\n%s", name);
		if (*module)
			fprintf(s->out->file, " in %s", module);
		if (*file)
			fprintf(s->out->file, ", %s:%u", file, p->line);
		fputc('\n', s->out->file);
	}
	free(file);
	free(module);
	free(name);
	return complete ? 0 : -ENOMEM;
}

static void print_totals(const struct scope_view *s, const struct qz_row *row)
{
	fputs("normalized time ", s->out->file);
	cells__print_norm(s, &row->total);
	fputs(", self ", s->out->file);
	cells__print_norm(s, &row->self);
	fputs("\n\n", s->out->file);
}

int procedure__print(const struct scope_view *s, const struct qz_row *row)
{
	int err = print_identity(s, row->procedure);

	if (err)
		return err;
	print_totals(s, row);
	err = bars__print(s, &row->self, &row->total);
	if (err)
		return err;
	fputs(s->out->utf8 ? "█ self  ▒ what it called or started\n"
			   : "# self  . what it called or started\n",
	      s->out->file);
	err = states__print(s, qz_state_breakdown__of_procedure, row->procedure);
	return err ? err : print_edges(s, row->procedure);
}
