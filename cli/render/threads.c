/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of threads: by the procedure that they were started with, or each by itself. */
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/report/goroutines.h"
#include "core/threads/thread_groups.h"

#define MAX_LEVELS 5 /* columns of level times: 1, 2, 3-4, 5-8, more */

/* "mutex queue_lock", or the cause where it is no object. */
static void add_top_wait(const struct scope_view *s, struct text_table *table,
			 const struct qz_thread_row *row)
{
	bool any = row->top_cause != QZ_NONE, object = row->top_object != QZ_NONE;

	if (object)
		text_table__take(table, cells__object(s->report, row->top_object));
	else
		text_table__take(table,
				 output__escape(any ? s->report->profile->causes[row->top_cause]
						    : ""));
}

/* ---- level times ---- */

static const char *const level_names[MAX_LEVELS] = {"1", "2", "3-4", "5-8", "9-"};

/* The column of a level: each has twice as many as the one before. */
static int column_of(uint32_t level)
{
	int column = 0;

	for (uint32_t last = 1; last < level && column < MAX_LEVELS - 1; last *= 2)
		column++;
	return column;
}

static int columns(const struct qz_report *r)
{
	return r->nlevels > 1 ? column_of(r->nlevels - 1) + 1 : 0;
}

static void add_levels(const struct scope_view *s, struct text_table *table,
		       const struct qz_figure *f)
{
	uint64_t ns[MAX_LEVELS] = {0};

	for (uint32_t level = 1; level < s->report->nlevels; level++)
		ns[column_of(level)] += f->level_cpu_ns[level];
	for (int i = 0; i < columns(s->report); i++)
		cells__add_norm_part(s, table, ns[i], f);
}

/* ---- rows ---- */

static const struct qz_thread *thread_of(const struct qz_report *r, uint32_t row)
{
	return &r->profile->threads[r->threads[row].thread];
}

static const char *name_of(const struct qz_thread *t)
{
	return *t->name ? t->name : t->comm;
}

/* One name of all threads tells nothing, unless it says that they are merged. */
static bool has_names(const struct qz_report *r)
{
	for (uint32_t i = 0; i < r->nthreads; i++)
		if (thread_of(r, i)->merged ||
		    strcmp(name_of(thread_of(r, i)), name_of(thread_of(r, 0))) != 0)
			return true;
	return false;
}

/* What the rows of both tables are made from. */
struct view_of_threads {
	const struct scope_view *s;
	struct qz_thread_groups groups;
	bool names; /* some threads have one of their own */
};

struct times {
	const struct qz_figure *figure;
	uint64_t ready_ns, blocked_ns;
};

static void add_times(const struct scope_view *s, struct text_table *table, const struct times *t)
{
	cells__add_norm(s, table, t->figure);
	add_levels(s, table, t->figure);
	if (s->report->spin_ns)
		cells__add_spun(s, table, t->figure);
	cells__add_seconds(s, table, t->ready_ns);
	cells__add_seconds(s, table, t->blocked_ns);
}

/* "serve(int) (worker)", "idle: serve(int)", "(first thread)"; takes the name of the threads over. */
static void add_start(const struct view_of_threads *v, struct text_table *table,
		      const struct qz_thread_group *g, char *threads)
{
	char *start = g->start != QZ_NONE ? names__format(v->s->names, g->start)
					  : strdup(g->first ? "(first thread)" : "(unknown)");

	if (start && threads)
		text_table__add(table, PLAIN, "%s%s%s%s", g->idle ? "idle: " : "", start,
				*threads ? " " : "", threads);
	else
		text_table__take(table, NULL);
	free(start);
	free(threads);
}

/* "name", "name, ..." of several, "" where all threads have one name. For the caller to free, or NULL. */
static char *format_name(const struct view_of_threads *v, const char *name, bool several,
			 bool merged)
{
	char *raw = NULL, *escaped = NULL;

	if (!v->names)
		return strdup("");
	if (asprintf(&raw, "(%s%s%s)", name, several ? ", ..." : "",
		     merged ? ", several, ended" : "") >= 0)
		escaped = output__escape(raw);
	free(raw);
	return escaped;
}

static char *format_names(const struct view_of_threads *v, uint32_t group)
{
	const struct qz_report *r = v->s->report;
	const char *name = name_of(thread_of(r, v->groups.groups[group].row));
	bool merged = false, several = false;

	for (uint32_t i = 0; v->names && i < r->nthreads; i++) {
		if (v->groups.group[i] != group)
			continue;
		merged |= thread_of(r, i)->merged;
		several |= strcmp(name, name_of(thread_of(r, i))) != 0;
	}
	return format_name(v, name, several, merged);
}

static void add_group(const struct view_of_threads *v, struct text_table *table, uint32_t group)
{
	const struct qz_thread_group *g = &v->groups.groups[group];
	const struct times times = {&g->figure, g->ready_ns, g->blocked_ns};

	add_times(v->s, table, &times);
	text_table__add(table, PLAIN, "%s", cells__count(g->n).text);
	add_start(v, table, g, format_names(v, group));
	if (v->s->report->waits.count)
		add_top_wait(v->s, table, &v->s->report->threads[g->row]);
}

static void add_thread(const struct view_of_threads *v, struct text_table *table, uint32_t row)
{
	const struct qz_thread *t = thread_of(v->s->report, row);
	const struct qz_thread_row *r = &v->s->report->threads[row];
	const struct times times = {&r->figure, t->ready_ns, t->blocked_ns};

	add_times(v->s, table, &times);
	if (t->merged)
		text_table__add(table, PLAIN, "-");
	else
		text_table__add(table, PLAIN, "%d", t->tid);
	add_start(v, table, &v->groups.groups[v->groups.group[row]],
		  format_name(v, name_of(t), false, t->merged));
	if (v->s->report->waits.count)
		add_top_wait(v->s, table, r);
}

/* ---- tables ---- */

static uint64_t unknown_time(const struct qz_report *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nthreads; i++)
		sum += r->profile->threads[r->threads[i].thread].unknown_ns;
	return sum;
}

static int make_heads(const struct scope_view *s, struct column *heads)
{
	int n = 0, levels = columns(s->report);

	heads[n++] = (struct column) {{"total", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	for (int i = 0; i < levels; i++)
		heads[n++] = (struct column) {{i ? "" : "ran at", level_names[i]}};
	if (s->report->spin_ns)
		heads[n++] = (struct column) {{"spin", "s"}};
	heads[n++] = (struct column) {{"ready", "s"}};
	heads[n++] = (struct column) {{"blocked", "s"}};
	heads[n++] = (struct column) {{"", s->config->each ? "tid" : "threads"}};
	heads[n++] = (struct column) {{"", "started with"}, .left = true, .elastic = true};
	if (s->report->waits.count)
		heads[n++] = (struct column) {{"waits", "mostly for"}, .left = true};
	return n;
}

#define SHOWN_LOOPS 3

/* Of those that were blocked and not printed yet, the one that was longest; NULL: none. */
static const struct qz_thread *next_loop(const struct qz_report *r, const struct qz_thread *last)
{
	const struct qz_thread *best = NULL;

	for (uint32_t i = 0; i < r->nthreads; i++) {
		const struct qz_thread *t = thread_of(r, i);

		if (!t->loop.blocks || t->loop.turns < QZ_LOOP_LEAST_TURNS || t->merged ||
		    (last && (t->loop.block_ns > last->loop.block_ns ||
			      (t->loop.block_ns == last->loop.block_ns && t <= last))))
			continue;
		if (!best || t->loop.block_ns > best->loop.block_ns)
			best = t;
	}
	return best;
}

/* Turns of event loops that took long, where there were any. */
static void print_loops(const struct scope_view *s)
{
	const struct qz_thread *t = NULL;

	for (int i = 0; i < SHOWN_LOOPS && (t = next_loop(s->report, t)); i++) {
		const struct qz_loop *l = &t->loop;
		char *name = output__escape(name_of(t));

		fprintf(s->out->file,
			"%s (thread %d): %s of %s turns between waits for events took 10 ms or "
			"more: %.*f s, up to %.0f ms.\n",
			name ? name : "", t->tid, cells__count(l->blocks).text,
			cells__count(l->turns).text, s->decimals, (double)l->block_ns / 1e9,
			(double)qz_loop__longest_ns(l) / 1e6);
		free(name);
	}
}

static int print_table(const struct view_of_threads *v)
{
	const struct scope_view *s = v->s;
	struct column heads[9 + MAX_LEVELS];
	int nheads = make_heads(s, heads), err;
	bool each = s->config->each;
	uint32_t n = each ? s->report->nthreads : v->groups.n, shown = cells__rows_shown(s, n);
	struct text_table *table = text_table__new(heads, nheads);
	uint64_t unknown = unknown_time(s->report);

	for (uint32_t i = 0; i < shown; i++)
		(each ? add_thread : add_group)(v, table, i);
	fputs("\nNormalized time of threads, % of elapsed time; seconds that they ran with so many "
	      "busy CPUs:\n",
	      s->out->file);
	err = text_table__print(table, s->out);
	if (err)
		return err;
	if (unknown)
		fprintf(s->out->file, "State unknown for %.*f s, all threads together.\n",
			s->decimals, (double)unknown / 1e9);
	print_loops(s);
	cells__print_rest(s, n, shown, each ? "threads" : "groups of threads");
	if (!each && s->report->nthreads > n)
		fprintf(s->out->file, "threads %s (threads --each shows them)\n",
			cells__count(s->report->nthreads).text);
	return 0;
}

/* The first one starts with runtime.main. */
static void add_creator(const struct scope_view *s, struct text_table *table,
			const struct qz_goroutine_row *row)
{
	const struct qz_procedure *start = &s->report->profile->procedures[row->start];

	if (row->creator != QZ_NONE)
		text_table__take(table, names__format(s->names, row->creator));
	else
		text_table__add(table, PLAIN,
				strcmp(start->name, "runtime.main") ? "(unknown)"
								    : "(first goroutine)");
}

static int print_goroutines(const struct scope_view *s, const struct qz_goroutines *g)
{
	const struct column heads[] = {
		{{"total", "s"}},
		{{"", "%"}, .joined = true},
		{{"", "CPU s"}},
		{{"", "blocked s"}},
		{{"", "goroutines of"}, .left = true, .elastic = true},
		{{"", "started by"}, .left = true},
	};
	uint32_t shown = cells__rows_shown(s, g->n);
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));
	int err;

	for (uint32_t i = 0; i < shown; i++) {
		const struct qz_goroutine_row *row = &g->rows[i];

		cells__add_norm(s, table, &row->figure);
		cells__add_norm_part(s, table, row->figure.cpu_ns, &row->figure);
		cells__add_seconds(s, table, row->blocked_ns);
		text_table__take(table, names__format(s->names, row->start));
		add_creator(s, table, row);
	}
	fputs("\nNormalized time of goroutines, in whatever threads they ran, % of elapsed time:\n",
	      s->out->file);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, g->n, shown, "groups of goroutines");
	return err;
}

/* Where there are any. */
static int print_any_goroutines(const struct scope_view *s)
{
	struct qz_goroutines g;
	int err = qz_goroutines__find(s->report, &g);

	if (!err && g.n)
		err = print_goroutines(s, &g);
	qz_goroutines__free(&g);
	return err;
}

int threads__print(const struct scope_view *s)
{
	struct view_of_threads v = {.s = s, .names = has_names(s->report)};
	int err = qz_thread_groups__find(s->report, &v.groups);

	err = err ? err : print_table(&v);
	qz_thread_groups__free(&v.groups);
	return err ?: print_any_goroutines(s);
}
