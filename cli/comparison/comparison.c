/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes between two sides of profiles as text. */
#include "cli/comparison/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/costs/cost_code.h"
#include "core/report/ranking.h"
#include "core/util/ratio_text.h"

#define SECOND	 1e9
#define MAX_TEXT 60 /* characters of a command */

struct view_of {
	const struct compared_scope *s;
	const struct qz_comparison *c;
	const struct output *out;
	const struct config *config;
	int decimals; /* of seconds */
};

static int decimals_for(const struct qz_comparison *c)
{
	double elapsed = fmax(c->elapsed.before, c->elapsed.after) / SECOND;

	return elapsed < 1 ? 4 : elapsed < 100 ? 3 : 2;
}

/* Of the elapsed time before; 0 where there was none. */
static double percent_of(const struct qz_comparison *c, double ns)
{
	return c->elapsed.before > 0 ? 100 * ns / c->elapsed.before : 0;
}

static bool is_repeated(const struct qz_comparison *c)
{
	return c->nbefore + c->nafter > 2;
}

/* Seconds with a sign, but for what is rounded to nothing. */
static void print_seconds(const struct view_of *v, double ns)
{
	double seconds = ns / SECOND;

	if (fabs(seconds) * pow(10, v->decimals) < 0.5)
		seconds = 0;
	fprintf(v->out->file, seconds != 0 ? "%+.*f s" : "%.*f s", v->decimals, seconds);
}

/* ---- cells ---- */

/* Blanks that align the decimal points of a column. */
static int blanks_after(int decimals, int most)
{
	return most - decimals + (most && !decimals);
}

static void add_number(struct text_table *table, enum emphasis emphasis, double value, int decimals,
		       int most)
{
	text_table__add(table, emphasis, "%.*f%*s", decimals, value, blanks_after(decimals, most),
			"");
}

/* With a sign, but for what is rounded to nothing. */
static void add_difference(struct text_table *table, enum emphasis emphasis, double value,
			   int decimals, int most)
{
	if (fabs(value) * pow(10, decimals) < 0.5)
		add_number(table, PLAIN, 0, decimals, most);
	else
		text_table__add(table, emphasis, "%+.*f%*s", decimals, value,
				blanks_after(decimals, most), "");
}

/* Two digits of the interval are shown, so that it can be seen on which side of 0 it is. */
static int digits_of(double ci, int most)
{
	int digits = cells__digits(ci, most);

	return digits < most ? digits + 1 : most;
}

static void add_value(struct text_table *table, const struct view_of *v, double ns, double ci)
{
	add_number(table, PLAIN, ns / SECOND, digits_of(ci / SECOND, v->decimals), v->decimals);
}

static void add_signed(struct text_table *table, const struct view_of *v, double ns, double ci)
{
	add_difference(table, PLAIN, ns / SECOND, digits_of(ci / SECOND, v->decimals), v->decimals);
}

static void add_percentage(struct text_table *table, const struct view_of *v, double ns, double ci)
{
	double percent = percent_of(v->c, ns);

	add_difference(table, cells__emphasis(fabs(percent)), percent,
		       cells__digits(percent_of(v->c, ci), 1), 1);
}

static void add_blanks(struct text_table *table, int n)
{
	while (n--)
		text_table__add(table, PLAIN, "%s", "");
}

static void add_interval_of(struct text_table *table, const struct view_of *v, double ci)
{
	if (ci > 0)
		add_value(table, v, ci, ci);
	else
		add_blanks(table, 1);
}

/* ---- the run ---- */

static void add_time(struct text_table *table, const struct view_of *v, const char *name,
		     const struct qz_change *c, bool with_percent)
{
	text_table__add(table, PLAIN, "%s", name);
	add_value(table, v, c->before, 0);
	add_value(table, v, c->after, 0);
	add_signed(table, v, qz_change__of(c), 0);
	if (with_percent)
		add_percentage(table, v, qz_change__of(c), 0);
	else
		add_blanks(table, 1);
	if (is_repeated(v->c))
		add_value(table, v, c->ci, 0);
}

static void add_parallelism_of(struct text_table *table, const struct view_of *v)
{
	const struct qz_change *c = &v->c->parallelism;

	text_table__add(table, PLAIN, "average parallelism");
	add_number(table, PLAIN, c->before, 2, v->decimals);
	add_number(table, PLAIN, c->after, 2, v->decimals);
	add_difference(table, PLAIN, qz_change__of(c), 2, v->decimals);
	add_blanks(table, 1);
	if (is_repeated(v->c))
		add_number(table, PLAIN, c->ci, v->decimals, v->decimals);
}

static int print_runs(const struct view_of *v)
{
	const struct column heads[] = {
		{.head = {"", ""}, .left = true},
		{.head = {"", "before"}},
		{.head = {"", "after"}},
		{.head = {"", "change"}},
		{.head = {"", "%"}},
		{.head = {"", cells__plus_minus(v->out)}},
	};
	struct text_table *table = text_table__new(heads, is_repeated(v->c) ? 6 : 5);

	add_time(table, v, "elapsed time, s", &v->c->elapsed, true);
	add_time(table, v, "CPU time, s", &v->c->cpu, false);
	add_parallelism_of(table, v);
	add_time(table, v, "only one CPU worked, s", &v->c->serial, true);
	add_time(table, v, "none worked, s", &v->c->idle, true);
	return text_table__print(table, v->out);
}

static char *name_of(const struct view_of *v, const struct qz_compared *row);

/* Less is not worth a word, and of one run each may be anything. */
#define SAME_PERCENT 1

/* What did change where the elapsed time hides it: the CPU time, or else the row that comes first. */
static void print_hidden_change(const struct view_of *v)
{
	const struct qz_comparison *c = v->c;
	const struct qz_change *change = &c->cpu;
	char *name = NULL;

	if (!qz_change__is_certain(change) ||
	    fabs(qz_change__of(change)) < SAME_PERCENT / 100.0 * change->before) {
		if (!c->ncertain)
			return;
		change = qz_change__is_certain(&c->rows->self) ? &c->rows->self : &c->rows->total;
		name = name_of(v, c->rows);
	}
	fprintf(v->out->file, "; but %s ", name ? name : "the CPU time");
	print_seconds(v, qz_change__of(change));
	if (change->ci > 0)
		fprintf(v->out->file, " %s %.*f", cells__plus_minus(v->out), v->decimals,
			change->ci / SECOND);
	free(name);
}

/* Prints the change and its interval. `said`: the line has named already how many times as long it takes. */
static void print_certainty(const struct view_of *v, double percent, bool said)
{
	bool times = qz_ratio_text__is_times(1 + percent / 100), repeated = is_repeated(v->c);
	double ci = percent_of(v->c, v->c->elapsed.ci);
	FILE *out = v->out->file;
	char text[QZ_RATIO_TEXT];

	if (!times)
		snprintf(text, sizeof(text), "%+.1f%%", percent);
	else
		qz_ratio_text__times(text, 1 + percent / 100);
	if (!times || !said)
		fprintf(out, "%s%s", text, repeated ? " " : ", ");
	if (!repeated)
		fputs("one run each)", out);
	else if (times)
		fprintf(out, "%s %.2f times)", cells__plus_minus(v->out), ci / 100);
	else
		fprintf(out, "%s %.1f%%)", cells__plus_minus(v->out), ci);
}

static void print_headline(const struct view_of *v)
{
	const struct qz_change *e = &v->c->elapsed;
	double from = e->before / SECOND, to = e->after / SECOND;
	double percent = percent_of(v->c, qz_change__of(e));
	bool ended = v->s->before[0]->ended && v->s->after[0]->ended;
	bool unchanged = from > 0 && to > 0 && ended && !qz_change__is_certain(e);
	FILE *out = v->out->file;

	if (from <= 0 || to <= 0)
		fprintf(out, "NOTHING TO COMPARE");
	else if (!ended)
		fprintf(out, "RECORDINGS of a program that did not end in them");
	else if (unchanged)
		fprintf(out, "%s that is larger than chance",
			v->c->ncertain || qz_change__is_certain(&v->c->cpu)
				? "NO CHANGE OF THE ELAPSED TIME"
				: "NO CHANGE");
	else if (fabs(percent) < SAME_PERCENT)
		fprintf(out, "ABOUT AS FAST");
	else if (to < from)
		fprintf(out, "FASTER, %.2f times as fast", from / to);
	else
		fprintf(out, "SLOWER, %.2f times the elapsed time", to / from);
	fprintf(out, ": %.*f s before, %.*f s after (", v->decimals, from, v->decimals, to);
	print_certainty(v, percent, ended && !unchanged);
	if (unchanged)
		print_hidden_change(v);
	fputc('\n', out);
}

/* ---- waits ---- */

#define SHOWN_WAITS   3
#define WORTH_PERCENT 1 /* of the elapsed time before */

/* Why more or less of the time none worked. */
static int print_waits(const struct view_of *v)
{
	const struct qz_comparison *waits = v->s->waits;
	FILE *out = v->out->file;
	uint32_t n = 0;

	while (n < SHOWN_WAITS && n < waits->ncertain &&
	       fabs(percent_of(v->c, qz_change__of(&waits->rows[n].blocked))) >= WORTH_PERCENT)
		n++;
	for (uint32_t i = 0; i < n; i++) {
		const struct qz_compared *row = &waits->rows[i];
		char *name = output__escape(qz_identities__get(v->s->ids, row->identity).name);

		if (!name)
			return -ENOMEM;
		fprintf(out, "%s%s ", i ? ", " : "waits of all threads: ", name);
		print_seconds(v, qz_change__of(&row->blocked));
		free(name);
	}
	fputs(n ? "\n" : "", out);
	return 0;
}

/* ---- what is not the same ---- */

typedef bool is_same(const struct qz_run *a, const struct qz_run *b);

static bool is_same_command(const struct qz_run *a, const struct qz_run *b)
{
	return !strcmp(a->command, b->command) && !strcmp(a->comm, b->comm);
}

static bool is_same_rate(const struct qz_run *a, const struct qz_run *b)
{
	return a->rate_hz == b->rate_hz && a->least_rate_hz == b->least_rate_hz;
}

static bool is_same_machine(const struct qz_run *a, const struct qz_run *b)
{
	return a->processors == b->processors;
}

/* The first run that differs from the first one of all, those after before those of its own side. */
static const struct qz_run *find_other(const struct view_of *v, is_same *same)
{
	const struct compared_scope *s = v->s;

	for (uint32_t i = 0; i < v->c->nafter; i++)
		if (!same(s->before[0], s->after[i]))
			return s->after[i];
	for (uint32_t i = 1; i < v->c->nbefore; i++)
		if (!same(s->before[0], s->before[i]))
			return s->before[i];
	return NULL;
}

static char *command_of(const struct qz_run *run)
{
	char *text = output__escape(*run->command ? run->command
				    : *run->comm  ? run->comm
						  : "(no name)");

	if (text && output__count_characters(text) > MAX_TEXT)
		strcpy(text + output__skip_characters(text, MAX_TEXT - 3), "...");
	return text;
}

static int print_commands(const struct view_of *v)
{
	const struct qz_run *one = v->s->before[0], *other = find_other(v, is_same_command);
	char *a = command_of(one), *b = other ? command_of(other) : NULL;
	int err = a && (b || !other) ? 0 : -ENOMEM;

	if (!err && other)
		fprintf(v->out->file, "commands differ: %s | %s\n", a, b);
	else if (!err)
		fprintf(v->out->file, "command: %s\n", a);
	free(a);
	free(b);
	return err;
}

/* More is a recording of another length, where the program did not end within it. */
#define SAME_LENGTH 0.01

static bool is_same_length(const struct qz_run *a, const struct qz_run *b)
{
	return (a->ended && b->ended) ||
	       fabs(a->elapsed_ns - b->elapsed_ns) <= SAME_LENGTH * a->elapsed_ns;
}

static void print_differences(const struct view_of *v)
{
	const struct compared_scope *s = v->s;
	const struct qz_run *one = s->before[0], *other;
	FILE *out = v->out->file;

	other = find_other(v, is_same_machine);
	if (other)
		fprintf(out, "processors differ: %u | %u\n", one->processors, other->processors);
	other = find_other(v, is_same_rate);
	if (other)
		fprintf(out,
			"sampling rates differ: %.4g | %.4g Hz; the intervals take account of it\n",
			one->least_rate_hz, other->least_rate_hz);
	other = find_other(v, is_same_length);
	if (other)
		fprintf(out,
			"recordings differ in length: %.2f | %.2f s; make them equally "
			"long\n",
			one->elapsed_ns / SECOND, other->elapsed_ns / SECOND);
	if (is_repeated(v->c))
		fprintf(out, "runs: %u before, %u after; intervals are those of the means%s\n",
			v->c->nbefore, v->c->nafter,
			v->c->nbefore < 3 || v->c->nafter < 3
				? "; three or more of each make them narrow"
				: "");
	else
		fputs("one run each: intervals are of sampling alone; 'diff A1 A2 A3 -- B1 B2 B3' "
		      "sees how runs differ\n",
		      out);
}

/* ---- rows ---- */

static char *name_of(const struct view_of *v, const struct qz_compared *row)
{
	struct qz_identity id = qz_identities__get(v->s->ids, row->identity);
	char *raw = NULL, *name = NULL;
	bool with_module = id.module_length && (row->namesake || !*id.name || *id.name == '(');

	if (asprintf(&raw, "%.*s%s%s", with_module ? id.module_length : 0, id.module,
		     with_module ? ":" : "", *id.name ? id.name : "(no name)") < 0)
		return NULL;
	name = output__escape(raw);
	free(raw);
	return name;
}

static void add_side(struct text_table *table, const struct view_of *v, bool is_in, double ns,
		     double ci)
{
	if (is_in && ns > 0)
		add_value(table, v, ns, ci);
	else
		text_table__add(table, PLAIN, "%s%*s", is_in ? "0" : "-",
				blanks_after(0, v->decimals), "");
}

/* What has none on both sides has no interval that says anything. */
static void add_change(struct text_table *table, const struct view_of *v, const struct qz_change *c)
{
	if (!(c->before > 0) && !(c->after > 0)) {
		add_blanks(table, 3);
		return;
	}
	add_signed(table, v, qz_change__of(c), c->ci);
	add_percentage(table, v, qz_change__of(c), c->ci);
	add_interval_of(table, v, c->ci);
}

/* Without its interval: what is within chance is 0. */
static void add_certain(struct text_table *table, const struct view_of *v,
			const struct qz_change *c)
{
	if (qz_change__is_certain(c))
		add_signed(table, v, qz_change__of(c), c->ci);
	else
		add_number(table, PLAIN, 0, 0, v->decimals);
}

#define SELF_COLUMNS 6 /* they come first */

/* Whether there are rows of procedures. */
static bool has_self(const struct view_of *v)
{
	return v->config->kinds & QZ_RANK_PROCEDURES;
}

static void add_row(struct text_table *table, const struct view_of *v,
		    const struct qz_compared *row)
{
	enum qz_identity_kind kind = qz_identities__get(v->s->ids, row->identity).kind;

	if (!has_self(v)) {
		/* none of the rows has one */
	} else if (QZ_COMPARE_ADDING & 1u << kind) {
		add_side(table, v, row->in_before, row->self.before, row->self.ci);
		add_side(table, v, row->in_after, row->self.after, row->self.ci);
		add_change(table, v, &row->self);
		add_certain(table, v, &row->cpu);
	} else {
		add_blanks(table, SELF_COLUMNS);
	}
	add_change(table, v, &row->total);
	add_certain(table, v, &row->blocked);
	text_table__take(table, name_of(v, row));
}

static int print_table(const struct view_of *v, uint32_t shown)
{
	const char *pm = cells__plus_minus(v->out);
	const struct column heads[] = {
		{.head = {"self", "before"}},	    {.head = {"self", "after"}},
		{.head = {"self", "change"}},	    {.head = {"", "%"}, .joined = true},
		{.head = {"", pm}, .joined = true}, {.head = {"CPU", "change"}},
		{.head = {"total", "change"}},	    {.head = {"", "%"}, .joined = true},
		{.head = {"", pm}, .joined = true}, {.head = {"blocked", "change"}},
		{.head = {"", ""}, .left = true},
	};
	int first = has_self(v) ? 0 : SELF_COLUMNS;
	struct text_table *table =
		text_table__new(heads + first, (int)(sizeof(heads) / sizeof(*heads)) - first);

	for (uint32_t i = 0; i < shown; i++)
		add_row(table, v, &v->c->rows[i]);
	return text_table__print(table, v->out);
}

/* "18 rows, self +0.022 s" */
static void print_part(const struct view_of *v, uint32_t from, uint32_t to)
{
	fprintf(v->out->file, "%s row%s", cells__count(to - from).text, to - from == 1 ? "" : "s");
	if (!has_self(v))
		return;
	fputs(", self ", v->out->file);
	print_seconds(v, qz_compare__self(v->c, v->s->ids, from, to));
}

static void print_sums(const struct view_of *v, uint32_t shown)
{
	const struct qz_comparison *c = v->c;
	FILE *out = v->out->file;

	if (c->ncertain > shown) {
		fputs("not shown: ", out);
		print_part(v, shown, c->ncertain);
		fputs(" (-n 0 shows them)\n", out);
	}
	fputs("within chance, or said by the rows that they call: ", out);
	print_part(v, c->ncertain, c->n);
	fputc('\n', out);
	if (!has_self(v))
		return;
	fputs("self of all rows ", out);
	print_seconds(v, qz_compare__self(c, v->s->ids, 0, c->n));
	fputs(", none worked ", out);
	print_seconds(v, qz_change__of(&c->idle));
	fputs(": together elapsed ", out);
	print_seconds(v, qz_change__of(&c->elapsed));
	fputc('\n', out);
}

static int print_rows(const struct view_of *v)
{
	static const char *const keys[] = {"self", "total", "CPU", "blocked", "name"};
	uint32_t shown = cells__rows_wanted(v->config, DEFAULT_ROWS, v->c->ncertain);
	FILE *out = v->out->file;
	int err = 0;

	if (v->c->ncertain) {
		fprintf(out,
			"\nChange of normalized time, s and %% of the elapsed time before, by "
			"%s:\n",
			keys[v->config->sort]);
		err = print_table(v, shown);
	} else if (qz_change__is_certain(&v->c->elapsed)) {
		fputs("\nno row has changed by more than chance\n", out);
	} else {
		fputs("\nno difference that is larger than chance\n", out);
	}
	if (err)
		return err;
	fputc('\n', out);
	print_sums(v, shown);
	return 0;
}

/* ---- what processor time was for ---- */

#define LEAST_COSTS                                                                                \
	0.1 /* of the processor time that is no work, on one side: the classes are worth a table */
#define LEAST_CHANGE 0.01 /* of the processor time, on one side: a class is worth a row */

static bool is_work(const struct view_of *v, const struct qz_compared *row)
{
	return qz_cost__by_name(qz_identities__get(v->s->ids, row->identity).name) == QZ_COST_WORK;
}

static bool are_classes_worth(const struct view_of *v)
{
	const struct qz_comparison *c = v->s->classes;
	double before = 0, after = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct qz_compared *row = &c->rows[i];

		if (is_work(v, row))
			continue;
		if (row->certain && fabs(qz_change__of(&row->cpu)) > LEAST_CHANGE * c->cpu.before)
			return true;
		before += row->cpu.before;
		after += row->cpu.after;
	}
	return before > LEAST_COSTS * c->cpu.before || after > LEAST_COSTS * c->cpu.after;
}

static int print_classes(const struct view_of *v)
{
	const struct column heads[] = {
		{.head = {"CPU", "before"}},
		{.head = {"CPU", "after"}},
		{.head = {"CPU", "change"}},
		{.head = {"", "%"}, .joined = true},
		{.head = {"", cells__plus_minus(v->out)}, .joined = true},
		{.head = {"", "what for"}, .left = true},
	};
	const struct qz_comparison *c = v->s->classes;
	struct text_table *table;

	if (!are_classes_worth(v))
		return 0;
	fputs("\nWhat processor time was for, s and % of that before:\n", v->out->file);
	table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	for (uint32_t i = 0; i < c->n; i++) {
		const struct qz_compared *row = &c->rows[i];
		double percent = c->cpu.before > 0 ? 100 / c->cpu.before : 0;

		add_side(table, v, row->in_before, row->cpu.before, row->cpu.ci);
		add_side(table, v, row->in_after, row->cpu.after, row->cpu.ci);
		add_signed(table, v, qz_change__of(&row->cpu), row->cpu.ci);
		add_difference(table, PLAIN, percent * qz_change__of(&row->cpu),
			       cells__digits(percent * row->cpu.ci, 1), 1);
		add_interval_of(table, v, row->cpu.ci);
		text_table__add(table, PLAIN, "%s",
				qz_identities__get(v->s->ids, row->identity).name);
	}
	return text_table__print(table, v->out);
}

/* ---- all of it ---- */

static int print_verdict(const struct view_of *v, const char *which, const struct qz_run *run)
{
	char *verdict = output__escape(run->verdict);

	if (!verdict)
		return -ENOMEM;
	fprintf(v->out->file, "%s%s\n", which, verdict);
	free(verdict);
	return 0;
}

static struct view_of view_of(const struct compared_scope *s, const struct output *out,
			      const struct config *config)
{
	return (struct view_of) {s, s->comparison, out, config, decimals_for(s->comparison)};
}

void comparison__print_headline(const struct compared_scope *s, const struct output *out,
				const struct config *config)
{
	const struct view_of v = view_of(s, out, config);

	print_headline(&v);
}

int comparison__print_notes(const struct compared_scope *s, const struct output *out,
			    const struct config *config)
{
	const struct view_of v = view_of(s, out, config);
	int err = print_commands(&v);

	if (!err)
		print_differences(&v);
	return err;
}

int comparison__print(const struct compared_scope *s, const struct output *out,
		      const struct config *config)
{
	const struct view_of v = view_of(s, out, config);
	int err;

	print_headline(&v);
	err = print_runs(&v);
	err = err ? err : print_waits(&v);
	fputc('\n', out->file);
	err = err ? err : print_verdict(&v, "before: ", s->before[0]);
	err = err ? err : print_verdict(&v, "after:  ", s->after[0]);
	err = err ? err : comparison__print_notes(s, out, config);
	err = err ? err : print_classes(&v);
	return err ? err : print_rows(&v);
}
