/* SPDX-License-Identifier: GPL-2.0-only */
/* What all processors were doing at single instants, and which procedures ran together. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/report/corun.h"

/* "Snapshots: 1 200 at 100 Hz, 3 incomplete; skew 12 us on average, 80 us at most." */
static void print_instants(const struct scope_view *s)
{
	const struct qz_rounds *i = &s->report->profile->instants;
	uint64_t whole = i->taken > i->incomplete ? i->taken - i->incomplete : 0;

	fprintf(s->out->file, "\n%s of all processors: %s at %u Hz",
		i->sampled ? "Samples at one instant" : "Snapshots", cells__count(i->taken).text,
		i->rate_hz);
	if (i->incomplete)
		fprintf(s->out->file, ", %s incomplete", cells__count(i->incomplete).text);
	if (i->unplaced)
		fprintf(s->out->file, ", %s without a place", cells__count(i->unplaced).text);
	if (i->outside)
		fprintf(s->out->file, ", %s with no thread running", cells__count(i->outside).text);
	fprintf(s->out->file, "; skew %s on average,",
		cells__duration(whole ? (double)i->skew_ns / (double)whole : 0).text);
	fprintf(s->out->file, " %s at most.\n", cells__duration((double)i->skew_max_ns).text);
	if (i->sampled)
		fputs("Instants at which no thread ran are not among them.\n", s->out->file);
}

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

/* As the verdict has it: the mean over the time at which a processor was busy at all. */
static void print_parallelism(const struct scope_view *s, const struct qz_corun *corun)
{
	uint64_t busy = corun->running - corun->spinning,
		 idle = corun->nlevels ? corun->levels[0] : 0;

	fprintf(s->out->file, "Average parallelism %.2f, counted from them; %.2f by the accounting",
		mean(busy, corun->instants - idle), s->report->parallelism);
	if (corun->spinning)
		fprintf(s->out->file, "; %.2f more were spinning",
			mean(corun->spinning, corun->instants - idle));
	fputs(".\n", s->out->file);
}

/* Threads that come or go meanwhile are in one of the two: only what stood still is compared. */
static void print_agreement(const struct scope_view *s)
{
	const struct qz_rounds *i = &s->report->profile->instants;

	if (i->compared)
		fprintf(s->out->file,
			"As many threads ran as the accounting says at %s of %s where its number "
			"stood "
			"still.\n",
			cells__count(i->compared - i->differing).text,
			cells__count(i->compared).text);
	fputs("\n", s->out->file);
}

static int print_levels(const struct scope_view *s, const struct qz_corun *corun)
{
	static const struct column heads[] = {
		{{"busy", "proc."}},
		{{"", "instants"}},
		{{"", "%"}, .joined = true},
		{{"", ""}, .left = true},
	};
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint64_t widest = 0;

	for (uint32_t i = 0; i < corun->nlevels; i++)
		widest = corun->levels[i] > widest ? corun->levels[i] : widest;
	for (uint32_t i = 0; i < corun->nlevels; i++) {
		int cells = cells__of_bar(corun->levels[i], widest);

		text_table__add(table, PLAIN, "%u", i);
		text_table__add(table, PLAIN, "%s", cells__count(corun->levels[i]).text);
		text_table__add(table, PLAIN, "%.1f",
				100 * mean(corun->levels[i], corun->instants));
		cells__add_bar(s, table, cells, cells);
	}
	return text_table__print(table, s->out);
}

/* ---- sets ---- */

static int add_member(FILE *out, const struct scope_view *s, uint32_t member, uint32_t times,
		      bool first)
{
	char *name = names__format(s->names, QZ_MEMBER_PROCEDURE(member));

	if (!name)
		return -ENOMEM;
	fputs(first ? "" : ", ", out);
	if (times > 1)
		fprintf(out, "%u x ", times);
	fprintf(out, "%s%s", name, QZ_MEMBER_SPINS(member) ? " (spinning)" : "");
	free(name);
	return 0;
}

/* "4 x work, main"; for the caller to free, or NULL. */
static char *format_set(const struct scope_view *s, const struct qz_round *m)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = 0;

	if (!out)
		return NULL;
	for (uint32_t i = 0, n; !err && i < m->n; i += n) {
		for (n = 1; i + n < m->n && m->members[i + n] == m->members[i];)
			n++;
		err = add_member(out, s, m->members[i], n, i == 0);
	}
	if (!m->n)
		fputs("(no thread)", out);
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	return text;
}

static void add_set(const struct scope_view *s, struct text_table *table,
		    const struct qz_corun *corun, const struct qz_corun_row *row)
{
	text_table__add(table, PLAIN, "%s", cells__count(row->instants).text);
	text_table__add(table, PLAIN, "%.1f", 100 * mean(row->instants, corun->instants));
	text_table__add(table, PLAIN, "%.0f", mean(row->busy, row->instants));
	text_table__take(table, format_set(s, &s->report->profile->rounds[row->round]));
}

static int print_sets(const struct scope_view *s, const struct qz_corun *corun)
{
	static const struct column heads[] = {
		{{"", "instants"}},
		{{"", "%"}, .joined = true},
		{{"busy", "proc."}},
		{{"", "what ran together"}, .left = true},
	};
	uint32_t shown = cells__rows_shown(s, corun->nrows);
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	int err;

	for (uint32_t i = 0; i < shown; i++)
		add_set(s, table, corun, &corun->rows[i]);
	fputc('\n', s->out->file);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, corun->nrows, shown, "sets");
	return err;
}

int corun__print(const struct scope_view *s)
{
	struct qz_corun corun;
	int err = qz_corun__sets(s->report->profile, s->report->scope, &corun);

	if (!err) {
		print_instants(s);
		print_parallelism(s, &corun);
		print_agreement(s);
		err = print_levels(s, &corun);
	}
	if (!err)
		err = print_sets(s, &corun);
	qz_corun__clear(&corun);
	return err;
}

/* ---- pairs ---- */

static void add_pair(const struct scope_view *s, struct text_table *table,
		     const struct qz_corun *corun, const struct qz_corun_row *row)
{
	text_table__add(table, PLAIN, "%s", cells__count(row->instants).text);
	text_table__add(table, PLAIN, "%.1f", 100 * mean(row->instants, corun->instants));
	text_table__add(table, PLAIN, "%.2f", mean(row->busy, corun->instants));
	text_table__add(table, PLAIN, "%.2f", mean(row->spinning, corun->instants));
	text_table__take(table, names__format(s->names, row->procedure));
}

static int print_pairs(const struct scope_view *s, const struct qz_corun *corun)
{
	static const struct column heads[] = {
		{{"", "instants"}},
		{{"", "%"}, .joined = true},
		{{"busy", "proc."}},
		{{"spin", "proc."}},
		{{"", "on other processors"}, .left = true},
	};
	uint32_t shown = cells__rows_shown(s, corun->nrows);
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	int err;

	for (uint32_t i = 0; i < shown; i++)
		add_pair(s, table, corun, &corun->rows[i]);
	err = text_table__print(table, s->out);
	if (!err)
		cells__print_rest(s, corun->nrows, shown, "procedures");
	return err;
}

int pairs__print(const struct scope_view *s, uint32_t procedure)
{
	char *name = names__format(s->names, procedure);
	struct qz_corun corun;
	int err = qz_corun__pairs(s->report->profile, s->report->scope, procedure, &corun);

	if (!name)
		err = -ENOMEM;
	if (!err) {
		print_instants(s);
		fprintf(s->out->file,
			"A processor was busy in %s itself at %s of them, with %.2f busy "
			"processors "
			"in all;\nno other one was at %s (%s).\n\n",
			name, cells__count(corun.instants).text,
			mean(corun.running - corun.spinning, corun.instants),
			cells__count(corun.alone).text,
			cells__share(corun.alone, corun.instants).text);
		err = print_pairs(s, &corun);
	}
	qz_corun__clear(&corun);
	free(name);
	return err;
}
