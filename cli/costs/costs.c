/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/costs/costs.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/costs/cost_table.h"
#include "core/costs/grain.h"
#include "core/estimate/estimate.h"

#define ROWS_OF_CLASS 5 /* procedures, where nothing is said */

/* ---- classes ---- */

static void add_class(const struct scope_view *s, struct text_table *table, const char *name,
		      const struct qz_figure *f, uint64_t cpu_ns)
{
	cells__add_seconds(s, table, f->cpu_ns);
	cells__add_part(table, f->cpu_ns, cpu_ns);
	cells__add_norm(s, table, f);
	cells__add_interval(s, table, f);
	text_table__add(table, PLAIN, "%s", name);
}

/* Time that is known exactly, and of no class. */
static void add_rest(const struct scope_view *s, struct text_table *table, const char *name,
		     uint64_t norm_ns)
{
	text_table__add(table, PLAIN, "%s", "");
	text_table__add(table, PLAIN, "%s", "");
	cells__add_seconds(s, table, norm_ns);
	cells__add_percent(s, table, norm_ns);
	text_table__add(table, PLAIN, "%s", "");
	text_table__add(table, PLAIN, "%s", name);
}

static int print_classes(const struct scope_view *s, const struct qz_cost_table *t)
{
	const struct column heads[] = {
		{{"CPU", "s"}},
		{{"", "%"}, .joined = true},
		{{"normalized", "s"}},
		{{"", "%"}, .joined = true},
		{{cells__plus_minus(s->out), "s"}},
		{{"", "what for"}, .left = true},
	};
	const struct qz_report *r = s->report;
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint64_t cpu_ns = qz_cost_table__cpu(t) + t->classes[QZ_COST_WORK].figure.cpu_ns;
	uint64_t norm_ns = qz_cost_table__norm(t) + t->classes[QZ_COST_WORK].figure.norm_ns +
			   r->instrumentation_ns;

	for (int cost = 0; cost < QZ_COSTS; cost++)
		if (t->classes[cost].n)
			add_class(s, table, qz_cost__name((enum qz_cost)cost),
				  &t->classes[cost].figure, cpu_ns);
	if (r->busy_ns > norm_ns)
		add_rest(s, table, "(without a sample)", r->busy_ns - norm_ns);
	if (r->instrumentation_ns)
		add_rest(s, table, "(in libquartz)", r->instrumentation_ns);
	if (r->idle_ns)
		add_rest(s, table, "(nothing ran)", r->idle_ns);
	fputs("\nWhat processor time was for, % of all of it, and normalized, % of elapsed time:\n",
	      s->out->file);
	return text_table__print(table, s->out);
}

/* ---- who asked ---- */

static void add_name(const struct scope_view *s, struct text_table *table, uint32_t procedure)
{
	if (procedure == QZ_NONE)
		text_table__add(table, PLAIN, "%s", "(unknown)");
	else
		text_table__take(table, names__format(s->names, procedure));
}

static uint32_t add_rows(const struct scope_view *s, struct text_table *table,
			 const struct qz_cost_class *class, enum qz_cost cost)
{
	uint32_t shown = cells__rows_wanted(s->config, ROWS_OF_CLASS, class->n);

	for (uint32_t i = 0; i < shown; i++) {
		const struct qz_cost_row *row = &class->rows[i];

		cells__add_seconds(s, table, row->figure.cpu_ns);
		cells__add_norm(s, table, &row->figure);
		text_table__add(table, PLAIN, "%s", qz_cost__name(cost));
		add_name(s, table, row->asker);
		if (row->through == QZ_NONE)
			text_table__add(table, PLAIN, "%s", qz_cost_origin__name(row->origin));
		else
			text_table__take(table, names__format(s->names, row->through));
	}
	return shown;
}

static int print_askers(const struct scope_view *s, const struct qz_cost_table *t)
{
	static const struct column heads[] = {
		{{"CPU", "s"}},
		{{"normalized", "s"}},
		{{"", "%"}, .joined = true},
		{{"", "what for"}, .left = true},
		{{"", "procedure that asked for it"}, .left = true, .elastic = true},
		{{"", "through"}, .left = true},
	};
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint32_t n = 0, shown = 0;
	int err;

	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++) {
		shown += add_rows(s, table, &t->classes[cost], (enum qz_cost)cost);
		n += t->classes[cost].n;
	}
	fputs("\nWho asked for what was no work:\n", s->out->file);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, n, shown, "procedures");
	return err;
}

/* ---- grain ---- */

static const char *plural(uint64_t n, const char *many)
{
	return n == 1 ? "" : many;
}

/* ", 5.3 us of handing over for each" */
static void print_cost(const struct scope_view *s, const struct qz_grain_cost *c, const char *what)
{
	bool rough = c->samples < QZ_FEW_SAMPLES;

	if (c->samples)
		fprintf(s->out->file, ", %s%s of %s for each", rough ? ROUGH_MARK : "",
			cells__duration(c->ns).text, what);
	*s->rough |= c->samples && rough;
	fputc('\n', s->out->file);
}

/* "started: 24 004 threads and 2 processes, 5.3 us of starting and ending for each" */
static void print_started(const struct scope_view *s, const struct qz_grain *g)
{
	FILE *out = s->out->file;

	if (!g->threads && !g->processes)
		return;
	fputs("started:", out);
	if (g->threads)
		fprintf(out, " %s thread%s", cells__count(g->threads).text,
			plural(g->threads, "s"));
	if (g->processes)
		fprintf(out, "%s %s process%s", g->threads ? " and" : "",
			cells__count(g->processes).text, plural(g->processes, "es"));
	print_cost(s, &g->start, qz_cost__name(QZ_COST_STARTING));
}

/* "read: 100 000 times, 1 byte on average, 520 ns of reading for each" */
static void print_calls(const struct scope_view *s, const char *done, uint64_t calls,
			uint64_t bytes, const struct qz_grain_cost *each, const char *what)
{
	char mean[QZ_GRAIN_BYTES];

	if (!calls)
		return;
	fprintf(s->out->file, "%s: %s time%s, %s on average", done, cells__count(calls).text,
		plural(calls, "s"), qz_grain__bytes(bytes, calls, mean));
	print_cost(s, each, what);
}

/* Powers of two that have none are left out. */
static int print_grain(const struct scope_view *s, const struct qz_grain *g)
{
	const struct column heads[] = {
		{{"", "hand-overs"}},
		{{"", "%"}, .joined = true},
		{{"CPU time of the thread", "since its last one"}, .left = true},
	};
	const struct qz_scope_counters *c = &s->report->profile->scopes[s->report->scope].counters;
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));

	for (uint32_t i = 0; i < QZ_GRAINS; i++) {
		bool last = i == QZ_GRAINS - 1;

		if (!c->grain[i])
			continue;
		text_table__add(table, PLAIN, "%s", cells__count(c->grain[i]).text);
		cells__add_part(table, c->grain[i], g->hand_overs);
		text_table__add(table, PLAIN, "%s %s", last ? "at least" : "less than",
				cells__duration((double)qz_grain__limit_ns(last ? i - 1 : i)).text);
	}
	return text_table__print(table, s->out);
}

static int print_counts(const struct scope_view *s, const struct qz_cost_table *t)
{
	struct qz_grain g = qz_grain__find(&s->report->profile->scopes[s->report->scope], t);
	FILE *out = s->out->file;

	if (qz_grain__is_none(&g))
		return 0;
	fputs("\nHow often, and what each cost, in processor time:\n", out);
	print_started(s, &g);
	print_calls(s, "read", g.transfers.reads, g.transfers.bytes_read, &g.read, "reading");
	print_calls(s, "written", g.transfers.writes, g.transfers.bytes_written, &g.write,
		    "writing");
	if (!g.hand_overs)
		return 0;
	fprintf(out, "handed over: %s time%s", cells__count(g.hand_overs).text,
		plural(g.hand_overs, "s"));
	print_cost(s, &g.hand_over, qz_cost__name(QZ_COST_HANDING));
	return print_grain(s, &g);
}

int costs__print(const struct scope_view *s)
{
	struct qz_cost_table t;
	int err = qz_cost_table__find(&t, s->report);

	err = err ? err : print_classes(s, &t);
	err = err ? err : print_counts(s, &t);
	err = err ? err : print_askers(s, &t);
	qz_cost_table__free(&t);
	return err;
}
