/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/scale_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/costs/cost_code.h"

#define SECOND	 1e9
#define MAX_TEXT 60   /* characters of a command */
#define WORTH	 0.01 /* of P * T_P: rows with less are left out */
#define INDENT	 "   "

struct scale_view {
	const struct qz_scale *s;
	const struct qz_identities *ids;
	const struct output *out;
	const struct config *config;
	const struct qz_scale_point *last;
	uint32_t point; /* index of last */
	int decimals;	/* of seconds */
};

static double total_of(const struct qz_scale_point *p)
{
	return p->processors * p->elapsed.value;
}

/* ---- cells ---- */

static void add_blank(struct text_table *table)
{
	text_table__add(table, PLAIN, "%s", "");
}

/* What is rounded to nothing has no sign. */
static void add_time(struct text_table *table, const struct scale_view *v, double ns)
{
	double seconds = ns / SECOND;

	if (fabs(seconds) * pow(10, v->decimals) < 0.5)
		seconds = 0;
	text_table__add(table, PLAIN, "%.*f", v->decimals, seconds);
}

static void add_width(struct text_table *table, const struct scale_view *v, double ci)
{
	if (ci < 0)
		add_blank(table);
	else
		add_time(table, v, ci);
}

static void add_value(struct text_table *table, const struct scale_view *v,
		      const struct qz_scale_value *value)
{
	add_time(table, v, value->value);
	add_width(table, v, value->ci);
}

static void add_percentage(struct text_table *table, double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (fabs(percent) < 0.05)
		percent = 0;
	text_table__add(table, cells__emphasis(fabs(percent)), "%.1f", percent);
}

/* ---- parts ---- */

static void print_headline(const struct scale_view *v, const char *command)
{
	char *text = output__escape(command);
	int length = text ? output__count_characters(text) : 0;
	const struct qz_scale_value *actual = &v->last->actual;
	FILE *out = v->out->file;

	fprintf(out, "%.*f times as fast on %u processor%s as %s", 2, actual->value,
		v->last->processors, v->last->processors == 1 ? "" : "s",
		v->s->has_baseline ? "the baseline" : "on 1");
	if (actual->ci >= 0)
		fprintf(out, ", %s %.2f", cells__plus_minus(v->out), actual->ci);
	if (length > MAX_TEXT && !v->config->wide)
		fprintf(out, ": %.*s%s\n\n", (int)output__skip_characters(text, MAX_TEXT - 3), text,
			v->out->utf8 ? "…" : "...");
	else
		fprintf(out, ": %s\n\n", text ? text : "?");
	free(text);
}

static int print_terms(const struct scale_view *v)
{
	const char *ci = cells__plus_minus(v->out);
	const struct column heads[] = {
		{.head = {"", "processors"}},
		{.head = {"", "runs"}},
		{.head = {"", "elapsed"}},
		{.head = {"", ci}},
		{.head = {"processors", "x elapsed"}},
		{.head = {"= work", "on one"}},
		{.head = {"+ idle", "time"}},
		{.head = {"", ci}},
		{.head = {"+ work", "inflation"}},
		{.head = {"", ci}},
	};
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));

	fputs("Processor time, s, medians:\n", v->out->file);
	for (uint32_t i = 0; i < v->s->n; i++) {
		const struct qz_scale_point *p = &v->s->points[i];

		text_table__add(table, PLAIN, "%u", p->processors);
		text_table__add(table, PLAIN, "%u", p->runs);
		add_value(table, v, &p->elapsed);
		add_time(table, v, total_of(p));
		add_time(table, v, v->s->points[0].work.value);
		add_value(table, v, &p->idle);
		add_time(table, v, p->inflation.value);
		add_width(table, v, i ? p->inflation.ci : QZ_SCALE_UNKNOWN);
	}
	return text_table__print(table, v->out);
}

static int print_speedups(const struct scale_view *v)
{
	const struct column heads[] = {
		{.head = {"", "processors"}},
		{.head = {"", "linear"}},
		{.head = {"", "maximal"}},
		{.head = {"idle-time-", "specific"}},
		{.head = {"inflation-", "specific"}},
		{.head = {"", "actual"}},
		{.head = {"", cells__plus_minus(v->out)}},
	};
	struct text_table *table;

	if (v->s->n == 1 && !v->s->has_baseline)
		return 0;
	table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));
	fprintf(v->out->file, "\nSpeed-up over %s, %.*f s:\n",
		v->s->has_baseline ? "the baseline" : "one processor", v->decimals,
		v->s->baseline.value / SECOND);
	for (uint32_t i = 0; i < v->s->n; i++) {
		const struct qz_scale_point *p = &v->s->points[i];

		text_table__add(table, PLAIN, "%u", p->processors);
		text_table__add(table, PLAIN, "%.2f", (double)p->processors);
		text_table__add(table, PLAIN, "%.2f", p->maximal);
		text_table__add(table, PLAIN, "%.2f", p->idle_specific);
		text_table__add(table, PLAIN, "%.2f", p->inflation_specific);
		text_table__add(table, PLAIN, "%.2f", p->actual.value);
		if (p->actual.ci < 0 || (!i && !v->s->has_baseline))
			add_blank(table);
		else
			text_table__add(table, PLAIN, "%.2f", p->actual.ci);
	}
	return text_table__print(table, v->out);
}

/* In lines of the output's width. */
static void print_sentence(const struct scale_view *v, const char *text)
{
	int room = v->out->width - 1 - (int)strlen(INDENT), used = 0;
	FILE *out = v->out->file;

	fputs(" - ", out);
	while (*text) {
		size_t n = strcspn(text, " ");
		char word[512];
		int length;

		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		length = output__count_characters(word);
		if (used && used + 1 + length > room) {
			fputs("\n" INDENT, out);
			used = 0;
		}
		fprintf(out, "%s%s", used ? " " : "", word);
		used += length + (used ? 1 : 0);
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void print_gaps(const struct scale_view *v, const struct qz_gaps *gaps)
{
	if (gaps->n)
		fprintf(v->out->file, "\nWhat the gaps between these speed-ups say:\n");
	for (uint32_t i = 0; i < gaps->n; i++)
		print_sentence(v, gaps->sentences[i]);
}

static int print_causes(const struct scale_view *v)
{
	const struct column heads[] = {
		{.head = {"", "s"}},
		{.head = {"% of", "all"}},
		{.head = {"", cells__plus_minus(v->out)}},
		{.head = {"", "cause"}, .left = true},
	};
	uint32_t most = cells__rows_wanted(v->config, DEFAULT_ROWS, v->s->ncauses), n = 0;
	struct text_table *table;

	if (!v->s->ncauses || v->last->idle.value < WORTH * total_of(v->last))
		return 0;
	table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));
	fprintf(v->out->file, "\nIdle time of %u processor%s by cause, s of processor time:\n",
		v->last->processors, v->last->processors == 1 ? "" : "s");
	for (uint32_t i = 0; i < v->s->ncauses && n < most; i++) {
		const struct qz_scale_cause *c = &v->s->causes[i];
		const struct qz_scale_value *idle = &c->idle[v->point];

		if (idle->value < WORTH * v->last->idle.value)
			continue;
		n++;
		add_time(table, v, idle->value);
		add_percentage(table, idle->value, total_of(v->last));
		add_width(table, v, idle->ci);
		text_table__take(table, qz_gaps__cause(v->ids, c));
	}
	return text_table__print(table, v->out);
}

/* ---- what processor time was for ---- */

#define HEAD 16 /* bytes of one line of a head */

/* Of its two lines the upper one is the first of several words. */
static void split_name(const char *name, char upper[HEAD], char lower[HEAD])
{
	size_t n = strcspn(name, " ");

	snprintf(upper, HEAD, "%.*s", name[n] ? (int)n : 0, name);
	snprintf(lower, HEAD, "%s", name[n] ? name + n + 1 : name);
}

static const struct qz_scale_row *find_class(const struct scale_view *v, enum qz_cost cost)
{
	for (uint32_t i = 0; i < v->s->nclasses; i++) {
		const struct qz_scale_row *class = &v->s->classes[i];

		if (qz_cost__by_name(qz_identities__get(v->ids, class->identity).name) == cost)
			return class;
	}
	return NULL;
}

/* "Grows most: handing over, +3.201 s ± 0.040 from 1 to 4 processors, 41.2% of the processor time there" */
static void print_growing(const struct scale_view *v)
{
	const struct qz_scale_row *class = qz_scale__growing(v->s);
	const struct qz_scale_value *by;
	FILE *out = v->out->file;

	if (!class)
		return;
	by = &class->inflation[v->point];
	fprintf(out, "Grows most: %s, %+.*f s", qz_identities__get(v->ids, class->identity).name,
		v->decimals, by->value / SECOND);
	if (by->ci >= 0)
		fprintf(out, " %s %.*f", cells__plus_minus(v->out), v->decimals, by->ci / SECOND);
	fprintf(out, " from 1 to %u processors, %.1f%% of the processor time there\n",
		v->last->processors, 100 * by->value / qz_scale__class_time(v->s, v->point));
}

/* Something but work is worth it, at the last point. */
static bool has_costs(const struct scale_view *v)
{
	const struct qz_scale_row *work = find_class(v, QZ_COST_WORK);
	double all = qz_scale__class_time(v->s, v->point);

	return all - (work ? work->work[v->point].value : 0) > WORTH * all;
}

static void add_point(struct text_table *table, const struct scale_view *v, uint32_t point,
		      const struct qz_scale_row *const *classes, int n)
{
	text_table__add(table, PLAIN, "%u", v->s->points[point].processors);
	add_time(table, v, qz_scale__class_time(v->s, point));
	for (int i = 0; i < n; i++)
		add_time(table, v, classes[i]->work[point].value);
}

static int print_classes(const struct scale_view *v)
{
	struct column heads[2 + QZ_COSTS] = {{.head = {"", "processors"}}, {.head = {"", "CPU"}}};
	const struct qz_scale_row *classes[QZ_COSTS];
	char names[QZ_COSTS][2][HEAD];
	struct text_table *table;
	int n = 0;

	if (!has_costs(v))
		return 0;
	for (int cost = 0; cost < QZ_COSTS; cost++) {
		classes[n] = find_class(v, (enum qz_cost)cost);
		if (!classes[n])
			continue;
		split_name(qz_cost__name((enum qz_cost)cost), names[n][0], names[n][1]);
		heads[2 + n] = (struct column) {.head = {names[n][0], names[n][1]}};
		n++;
	}
	fputs("\nWhat processor time was for, s, medians:\n", v->out->file);
	print_growing(v);
	table = text_table__new(heads, 2 + n);
	for (uint32_t i = 0; i < v->s->n; i++)
		add_point(table, v, i, classes, n);
	return text_table__print(table, v->out);
}

/* ---- procedures ---- */

static bool is_worth(const struct scale_view *v, const struct qz_scale_row *row)
{
	double least = WORTH * total_of(v->last);

	return fabs(row->inflation[v->point].value) >= least ||
	       row->beside[v->point].value >= least;
}

static int print_rows(const struct scale_view *v)
{
	const char *ci = cells__plus_minus(v->out);
	const struct column heads[] = {
		{.head = {"work", "on one"}},
		{.head = {"work", "now"}},
		{.head = {"", "inflation"}},
		{.head = {"% of", "all"}},
		{.head = {"", ci}},
		{.head = {"idle", "meanwhile"}},
		{.head = {"", "procedure"}, .left = true},
	};
	uint32_t most = cells__rows_wanted(v->config, DEFAULT_ROWS, v->s->nrows), n = 0;
	struct text_table *table;

	if (v->last->processors == 1)
		return 0;
	table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));
	fprintf(v->out->file, "\nWork on %u processors by procedure, s of processor time:\n",
		v->last->processors);
	for (uint32_t i = 0; i < v->s->nrows && n < most; i++) {
		const struct qz_scale_row *row = &v->s->rows[i];

		if (!is_worth(v, row))
			continue;
		n++;
		add_time(table, v, row->work[0].value);
		add_time(table, v, row->work[v->point].value);
		add_time(table, v, row->inflation[v->point].value);
		add_percentage(table, row->inflation[v->point].value, total_of(v->last));
		add_width(table, v, row->inflation[v->point].ci);
		add_time(table, v, row->beside[v->point].value);
		text_table__take(table, qz_gaps__name(v->ids, row->identity));
	}
	return text_table__print(table, v->out);
}

int scale_text__print(const struct qz_scale *s, const struct qz_identities *ids,
		      const struct qz_gaps *gaps, const char *command, const struct config *config,
		      const struct output *out)
{
	struct scale_view v = {s, ids, out, config, &s->points[s->n - 1], s->n - 1, 0};
	double longest = s->points[0].elapsed.value / SECOND;
	int err;

	v.decimals = longest < 1 ? 4 : longest < 100 ? 3 : 2;
	print_headline(&v, command);
	err = print_terms(&v);
	err = err ? err : print_speedups(&v);
	if (err)
		return err;
	print_gaps(&v, gaps);
	err = print_classes(&v);
	err = err ? err : print_causes(&v);
	return err ? err : print_rows(&v);
}
