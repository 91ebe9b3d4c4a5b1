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

#include "cli/section.h"

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

static void add_calls(struct columns *c, uint64_t calls)
{
	if (calls)
		columns__add(c, PLAIN, "%" PRIu64, calls);
	else
		columns__add(c, PLAIN, "%s", "");
}

static int add_edge(const struct section *s, struct columns *c, const struct qz_edge *e,
		    uint32_t procedure)
{
	bool callers = s->config->callers;
	bool self = e->procedure == QZ_NONE && !callers;
	char *name = NULL;

	if (self || e->procedure != QZ_NONE) {
		name = names__format(s->names, self ? procedure : e->procedure);
		if (!name)
			return -ENOMEM;
	}
	add_seconds(s, c, e->figure.norm_ns);
	add_percent(s, c, e->figure.norm_ns);
	add_parallelism(c, &e->figure);
	add_seconds(s, c, e->figure.ci_ns);
	if (s->report->spin_ns)
		add_seconds(s, c, e->figure.spin_ns);
	if (s->report->waits.count)
		add_seconds(s, c, e->waits.blocked_ns);
	if (s->report->profile->ncalls)
		add_calls(c, e->calls);
	columns__add(c, PLAIN, "%s", describe_way(e, callers));
	if (self)
		columns__add(c, PLAIN, "%s self", name);
	else
		columns__add(c, PLAIN, "%s",
			     name		      ? name
			     : e->via == QZ_PROCEDURE ? "(outermost)"
						      : "(unknown)");
	free(name);
	return 0;
}

/* The procedure's own time comes last, as in the paper, and is never left out. */
static int add_edges(const struct section *s, struct columns *c, const struct qz_edge *edges,
		     uint32_t n, uint32_t procedure, uint32_t shown)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n && shown; i++) {
		if (edges[i].procedure == QZ_NONE)
			continue;
		err = add_edge(s, c, &edges[i], procedure);
		shown--;
	}
	for (uint32_t i = 0; !err && i < n; i++)
		if (edges[i].procedure == QZ_NONE)
			err = add_edge(s, c, &edges[i], procedure);
	return err;
}

static uint32_t count_named(const struct qz_edge *edges, uint32_t n)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < n; i++)
		named += edges[i].procedure != QZ_NONE;
	return named;
}

static int print_edges(const struct section *s, uint32_t procedure)
{
	bool callers = s->config->callers;
	const char *what = callers ? "callers" : "callees";
	struct column heads[9] = {
		{{"total", "s"}},
		{{"", "%"}, .joined = true},
		{{"paral-", "lelism"}},
		{{plus_minus(s->out), "s"}},
	};
	int nheads = 4;
	struct columns *c;
	struct qz_edge *edges = NULL;
	uint32_t n = 0, named = 0, shown = 0;
	int err;

	if (s->report->spin_ns)
		heads[nheads++] = (struct column) {{"spin", "s"}};
	if (s->report->waits.count)
		heads[nheads++] = (struct column) {{"blocked", "s"}};
	if (s->report->profile->ncalls)
		heads[nheads++] = (struct column) {{"", "calls"}};
	heads[nheads++] = (struct column) {{"", "by"}, .left = true};
	heads[nheads++] = (struct column) {{"", callers ? "caller" : "callee"}, .left = true};
	c = columns__new(heads, nheads);
	if (!c)
		return -ENOMEM;
	err = callers ? qz_report__callers(s->report, procedure, &edges, &n)
		      : qz_report__callees(s->report, procedure, &edges, &n);
	if (!err) {
		named = count_named(edges, n);
		shown = rows_shown(s, named);
		err = add_edges(s, c, edges, n, procedure, shown);
	}
	if (!err) {
		fputc('\n', s->out->file);
		err = columns__print(c, s->out);
	}
	if (!err)
		print_rest(s, named, shown, what);
	qz_edges__free(edges, n);
	columns__free(c);
	return err;
}

/* "main in /usr/bin/verify, verify.c:12". */
static int print_identity(const struct section *s, uint32_t procedure)
{
	const struct qz_procedure *p = &s->report->profile->procedures[procedure];
	char *name = escape_name(p->name), *module = escape_name(p->module);
	char *file = escape_name(p->file);
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

static void print_totals(const struct section *s, const struct qz_row *row)
{
	uint64_t elapsed = s->report->elapsed_ns;
	int decimals = s->decimals;

	fprintf(s->out->file, "normalized time %.*f s (%s) %s %.*f s, self %.*f s (%s)\n\n",
		decimals, (double)row->total.norm_ns / 1e9, share(row->total.norm_ns, elapsed).text,
		plus_minus(s->out), decimals, (double)row->total.ci_ns / 1e9, decimals,
		(double)row->self.norm_ns / 1e9, share(row->self.norm_ns, elapsed).text);
}

static int print_states(const struct section *s, uint32_t procedure)
{
	struct qz_states states;
	int err = qz_report__procedure_states(s->report, procedure, &states);

	err = err ? err : states__print(s, &states);
	qz_states__clear(&states);
	return err;
}

int procedure__print(const struct section *s, const struct qz_row *row)
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
	err = print_states(s, row->procedure);
	return err ? err : print_edges(s, row->procedure);
}
