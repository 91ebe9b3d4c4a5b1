/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/code/excerpt.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/vec.h"

#define CONTEXT 3 /* rows without figures before and after one with figures */

const char *excerpt__file(const struct qz_report *r, const struct annotation *a, uint32_t part)
{
	const struct qz_line line = {.procedure = a->row->procedure, .part = part};

	return qz_line__file(r->profile, &line);
}

static int add(struct excerpt *e, uint64_t number, const char *text, uint32_t time)
{
	if (qz_array__reserve((void **)&e->rows, e->n, sizeof(*e->rows)))
		return -ENOMEM;
	e->rows[e->n++] = (struct excerpt_row) {.number = number, .text = text, .time = time};
	return 0;
}

/* Leaves out what is far from all figures, but for row `first`. One row is not worth being left out. */
static void fold(struct excerpt *e, uint32_t first)
{
	uint32_t n = first, next = first;
	int64_t last = (int64_t)first - CONTEXT - 1;

	for (uint32_t i = first, hidden = 0; i < e->n; i++) {
		struct excerpt_row row = e->rows[i];

		if (row.time != QZ_NONE)
			last = i;
		for (next = next < i ? i : next; next < e->n && e->rows[next].time == QZ_NONE;)
			next++;
		if (i > first && i - last > CONTEXT && (next == e->n || next - i > CONTEXT)) {
			hidden++;
			if (hidden > 1)
				row.text = NULL;
			if (hidden > 2)
				continue;
			/* The second of them takes the place of the first. */
			n -= hidden > 1;
		} else {
			hidden = 0;
		}
		e->rows[n++] = row;
	}
	e->n = n;
}

/* ---- source lines ---- */

/* Lines without figures up to this one. */
static int fill(struct excerpt *e, const struct source_file *source, uint32_t *at, uint64_t before)
{
	int err = 0;

	for (; !err && *at < before && *at <= source->n; (*at)++)
		err = add(e, *at, source_file__line(source, *at), QZ_NONE);
	return err;
}

static bool is_shown(const struct annotation *a, const bool *chosen, uint32_t time)
{
	return chosen[time] && a->times[time].line;
}

static bool any_shown(const struct annotation *a, const bool *chosen,
		      const struct annotated_file *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (is_shown(a, chosen, i))
			return true;
	return false;
}

/* at: where it begins, 0: near the first line with figures. */
static int add_file(struct excerpt *e, const struct annotation *a, const bool *chosen,
		    const struct annotated_file *f, uint32_t at)
{
	uint32_t first = e->n;
	int err = 0;

	for (uint32_t i = f->first; !err && i < f->first + f->n; i++) {
		uint32_t line = a->times[i].line;

		if (!is_shown(a, chosen, i))
			continue;
		if (e->n == first && (!at || at > line))
			at = line > CONTEXT ? line - CONTEXT : 1;
		err = fill(e, &f->source, &at, line);
		err = err ? err : add(e, line, source_file__line(&f->source, line), i);
		at = line + 1;
	}
	if (!err)
		err = fill(e, &f->source, &at, (uint64_t)at + CONTEXT);
	fold(e, first);
	return err;
}

/* The row that names a file, as it was read, or else as the profile has it. */
static int name_file(struct excerpt *e, const struct qz_report *r, const struct annotation *a,
		     const struct annotated_file *f)
{
	int err = add(e, 0, f->source.n ? f->source.path : excerpt__file(r, a, f->part), QZ_NONE);

	if (!err)
		e->rows[e->n - 1].is_file = true;
	return err;
}

int excerpt__lines(struct excerpt *e, const struct qz_report *r, const struct annotation *a,
		   const bool *chosen)
{
	uint32_t declaration = r->profile->procedures[a->row->procedure].line;
	bool elsewhere = false;
	int err = 0;

	*e = (struct excerpt) {0};
	for (uint32_t i = 0; i < a->nfiles; i++)
		elsewhere |= a->files[i].part && any_shown(a, chosen, &a->files[i]);
	for (uint32_t i = 0; !err && i < a->nfiles; i++) {
		const struct annotated_file *f = &a->files[i];

		if (!any_shown(a, chosen, f))
			continue;
		err = elsewhere ? name_file(e, r, a, f) : 0;
		err = err ? err : add_file(e, a, chosen, f, f->part ? 0 : declaration);
	}
	for (uint32_t i = 0; !err && i < a->n; i++)
		if (chosen[i] && !a->times[i].line)
			err = add(e, 0, "(line not known)", i);
	return err;
}

/* ---- instructions ---- */

uint32_t excerpt__instruction(const struct disassembly *d, const struct qz_code_time *t)
{
	uint64_t address = t->address + d->bias;
	uint32_t low = 0, high = d->n;

	if (t->mapping != d->mapping || address < d->start || address >= d->end)
		return d->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (d->instructions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : d->n;
}

int excerpt__instructions(struct excerpt *e, const struct annotation *a, const bool *chosen)
{
	const struct disassembly *d = a->assembly;
	uint32_t at = 0;
	int err = 0;

	*e = (struct excerpt) {0};
	for (uint32_t i = 0; !err && i < a->n; i++) {
		uint32_t hit = excerpt__instruction(d, &a->times[i]);

		if (!chosen[i] || hit == d->n)
			continue;
		for (; !err && at < hit; at++)
			err = add(e, d->instructions[at].address, d->instructions[at].text,
				  QZ_NONE);
		err = err ? err
			  : add(e, d->instructions[hit].address, d->instructions[hit].text, i);
		at = hit + 1;
	}
	for (; !err && at < d->n; at++)
		err = add(e, d->instructions[at].address, d->instructions[at].text, QZ_NONE);
	for (uint32_t i = 0; !err && i < a->n; i++)
		if (chosen[i] && excerpt__instruction(d, &a->times[i]) == d->n)
			err = add(e, 0, "(elsewhere)", i);
	fold(e, 0);
	return err;
}

void excerpt__free(struct excerpt *e)
{
	free(e->rows);
	*e = (struct excerpt) {0};
}
