/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/timeline/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/cells.h"
#include "core/timeline/stretches.h"

#define MARGIN	  10 /* characters before a line */
#define LETTERS	  8  /* procedures that have one */
#define MAX_CELLS 200
#define NOTABLE	  20 /* one part of so many of the run: shorter stretches are not told of */

/* A column of characters is the same part of the run in all lines. */
struct lines {
	const struct scope_view *view;
	const struct qz_slots *slots;
	const struct qz_profile *profile;
	int n;
	double width; /* of a cell, in slots */
	double *norm; /* by procedure, of a cell */
	uint32_t leaders[MAX_CELLS];
	uint32_t letters[LETTERS]; /* procedures, by the number of cells that they lead in */
	int nletters;
};

/* ---- heights ---- */

typedef double measure(const struct lines *l, uint32_t slot);

static double busy_time(const struct lines *l, uint32_t slot)
{
	double sum = 0;

	for (uint32_t n = 1; n < l->slots->nlevels; n++)
		sum += n * (double)l->slots->all[slot].busy_ns[n];
	return sum;
}

static double ready_time(const struct lines *l, uint32_t slot)
{
	return (double)l->slots->all[slot].ready_ns;
}

/* Mean number in a cell, -1 where nothing was measured. */
static double mean(const struct lines *l, int cell, measure *of)
{
	double from = cell * l->width, until = from + l->width, sum = 0, elapsed = 0;

	for (uint32_t i = (uint32_t)from; i < l->slots->n && i < until; i++) {
		double first = from > i ? from : i, last = until < i + 1 ? until : i + 1;

		sum += (last - first) * of(l, i);
		elapsed += (last - first) * (double)l->slots->all[i].elapsed_ns;
	}
	return elapsed > 0 ? sum / elapsed : -1;
}

static const char *height(const struct output *out, double part)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const marks[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
	int eighths = (int)ceil(part * 8 - 0.25);

	eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
	if (part > 0.01 && !eighths)
		eighths = 1;
	return out->utf8 ? blocks[eighths] : marks[eighths];
}

static void print_heights(const struct lines *l, const char *name, measure *of, double most)
{
	FILE *out = l->view->out->file;

	fprintf(out, "%-*s", MARGIN, name);
	for (int cell = 0; cell < l->n; cell++) {
		double value = mean(l, cell, of);

		fputs(height(l->view->out, value > 0 && most > 0 ? value / most : 0), out);
	}
	fprintf(out, "  %s 0 to %.*f\n", l->view->out->utf8 ? "▁█" : ".#",
		most < 10 && most != floor(most), most);
}

/* Threads without a processor, where that is for more than a hundredth of the time. */
static void print_ready(const struct lines *l)
{
	double most = 0, sum = 0, elapsed = 0;

	for (uint32_t i = 0; i < l->slots->n; i++) {
		sum += ready_time(l, i);
		elapsed += (double)l->slots->all[i].elapsed_ns;
	}
	for (int cell = 0; cell < l->n; cell++)
		most = fmax(most, mean(l, cell, ready_time));
	if (sum > elapsed / 100)
		print_heights(l, "ready", ready_time, ceil(most));
}

/* ---- who leads ---- */

static uint32_t find_leader(struct lines *l, int cell)
{
	uint32_t leader = QZ_NONE, n = l->profile->nprocedures;

	memset(l->norm, 0, n * sizeof(*l->norm));
	qz_stretches__add_norm(l->slots, l->profile, cell * l->width, (cell + 1) * l->width,
			       l->norm);
	for (uint32_t i = 0; i < n; i++)
		if (l->norm[i] > 0 && (leader == QZ_NONE || l->norm[i] > l->norm[leader]))
			leader = i;
	return leader;
}

static int cells_of(const struct lines *l, uint32_t procedure)
{
	int n = 0;

	for (int cell = 0; cell < l->n; cell++)
		n += l->leaders[cell] == procedure;
	return n;
}

static int letter_of(const struct lines *l, uint32_t procedure)
{
	for (int i = 0; i < l->nletters; i++)
		if (l->letters[i] == procedure)
			return i;
	return -1;
}

/* Those that lead most often get letters. */
static void find_letters(struct lines *l)
{
	while (l->nletters < LETTERS) {
		uint32_t best = QZ_NONE;

		for (int cell = 0; cell < l->n; cell++) {
			uint32_t p = l->leaders[cell];

			if (p != QZ_NONE && letter_of(l, p) < 0 &&
			    (best == QZ_NONE || cells_of(l, p) > cells_of(l, best)))
				best = p;
		}
		if (best == QZ_NONE)
			return;
		l->letters[l->nletters++] = best;
	}
}

static void print_leaders(struct lines *l)
{
	FILE *out = l->view->out->file;

	for (int cell = 0; cell < l->n; cell++)
		l->leaders[cell] = find_leader(l, cell);
	find_letters(l);
	if (!l->nletters)
		return;
	fprintf(out, "%-*s", MARGIN, "leading");
	for (int cell = 0; cell < l->n; cell++) {
		int letter = l->leaders[cell] == QZ_NONE ? -1 : letter_of(l, l->leaders[cell]);

		fputc(l->leaders[cell] == QZ_NONE ? ' ' : letter < 0 ? '.' : 'a' + letter, out);
	}
	fputc('\n', out);
}

static int print_legend(const struct lines *l)
{
	FILE *out = l->view->out->file;

	for (int i = 0; i < l->nletters; i++) {
		char *name = names__format(l->view->names, l->letters[i]);

		if (!name)
			return -ENOMEM;
		fprintf(out, "%*c  %s\n", MARGIN - 1, 'a' + i, name);
		free(name);
	}
	return 0;
}

/* ---- axis ---- */

/* From the beginning of the run, as --time takes them, also where the scope began later. */
static double seconds(const struct lines *l, double slots)
{
	return slots * (double)l->slots->slot_ns / 1e9;
}

static int decimals(const struct lines *l)
{
	return l->slots->slot_ns < 1000000000;
}

/* A round number of seconds between marks, so that there is room for their text. */
static double step_of(const struct lines *l)
{
	static const double steps[] = {1, 2, 5};
	double cell = l->width * (double)l->slots->slot_ns / 1e9;

	for (double unit = 1e-3; unit < 1e9; unit *= 10)
		for (int i = 0; i < 3; i++)
			if (unit * steps[i] >= 9 * cell)
				return unit * steps[i];
	return 1e9;
}

static void print_axis(const struct lines *l)
{
	char line[MAX_CELLS + 32], text[32];
	double step = step_of(l), cell = l->width * (double)l->slots->slot_ns / 1e9;
	int last = 0;

	memset(line, ' ', sizeof(line));
	for (int i = 0; i * step / cell < l->n; i++) {
		int at = (int)(i * step / cell + 0.5);
		int length = snprintf(text, sizeof(text), "|%.6g s", i * step);

		if (at + length >= (int)sizeof(line))
			break;
		memcpy(line + at, text, (size_t)length);
		last = at + length;
	}
	fprintf(l->view->out->file, "%*s%.*s\n", MARGIN, "", last, line);
}

/* ---- in words ---- */

/* The procedure with the most time of its own in a stretch. */
static int print_stretch(struct lines *l, enum qz_stretch_kind kind, const char *words)
{
	struct qz_stretch s = qz_stretches__longest(l->slots, kind);
	uint32_t leader = QZ_NONE, n = l->profile->nprocedures;
	FILE *out = l->view->out->file;
	char *name = NULL;

	if (s.first == s.last || (s.last - s.first) * NOTABLE < l->slots->n)
		return 0;
	memset(l->norm, 0, n * sizeof(*l->norm));
	qz_stretches__add_norm(l->slots, l->profile, s.first, s.last, l->norm);
	for (uint32_t i = 0; kind != QZ_STRETCH_IDLE && i < n; i++)
		if (l->norm[i] > 0 && (leader == QZ_NONE || l->norm[i] > l->norm[leader]))
			leader = i;
	if (leader != QZ_NONE) {
		name = names__format(l->view->names, leader);
		if (!name)
			return -ENOMEM;
	}
	fprintf(out, "%s from %.*f s to %.*f s%s%s\n", words, decimals(l), seconds(l, s.first),
		decimals(l), seconds(l, s.last), name ? ", most of it " : "", name ? name : "");
	free(name);
	return 0;
}

/* Nothing ran: no thread was ready, or others had the processors. */
static const char *words_of_idle(const struct lines *l)
{
	struct qz_stretch s = qz_stretches__longest(l->slots, QZ_STRETCH_IDLE);
	double ready = 0, elapsed = 0;

	for (uint32_t i = s.first; i < s.last; i++) {
		ready += ready_time(l, i);
		elapsed += (double)l->slots->all[i].elapsed_ns;
	}
	return ready > elapsed / 2 ? "no processor was free for it" : "idle";
}

static int print_words(struct lines *l)
{
	int err = 0;

	if (l->slots->nlevels > 2)
		err = print_stretch(l, QZ_STRETCH_SERIAL, "serial");
	return err ? err : print_stretch(l, QZ_STRETCH_IDLE, words_of_idle(l));
}

/* ---- all ---- */

/* As many cells as there is room for; each slot has several where there are few. */
static void fit(struct lines *l)
{
	int room = l->view->out->width - MARGIN - 14, n = (int)l->slots->n;

	if (room > MAX_CELLS)
		room = MAX_CELLS;
	if (room < 20)
		room = 20;
	l->n = n < room ? n * (room / n) : room;
	l->width = (double)n / l->n;
}

static int print_lines(struct lines *l)
{
	const struct qz_slots *s = l->slots;
	int err;

	fprintf(l->view->out->file, "\nHow it developed, %.3g s to a character:\n",
		l->width * (double)s->slot_ns / 1e9);
	print_heights(l, "busy", busy_time, s->nlevels - 1);
	print_ready(l);
	print_leaders(l);
	print_axis(l);
	err = print_legend(l);
	return err ? err : print_words(l);
}

int timeline__print(const struct scope_view *view)
{
	struct lines l = {.view = view, .profile = view->report->profile};
	struct qz_slots *slots = qz_slots__new(view->report);
	int err;

	if (!slots)
		return -errno;
	l.slots = slots;
	l.norm = calloc(l.profile->nprocedures + 1ul, sizeof(*l.norm));
	fit(&l);
	err = l.norm ? print_lines(&l) : -ENOMEM;
	free(l.norm);
	qz_slots__free(slots);
	return err;
}
