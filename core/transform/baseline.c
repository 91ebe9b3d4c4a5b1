/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/figures.h"

/* The columns of a profile (core/model/figures.h), and what calls cost, which is estimated for the run as a whole. */
#define CALL_COSTS QZ_FIGURE_IDS

struct qz_baseline {
	struct qz_kept columns[CALL_COSTS + 1];
};

/* What is done with each figure, and with the one that is kept of it. */
typedef void visit_figure(uint64_t *figure, uint64_t *kept);

struct qz_baseline *qz_baseline__new(void)
{
	return calloc(1, sizeof(struct qz_baseline));
}

void qz_baseline__free(struct qz_baseline *b)
{
	if (!b)
		return;
	for (uint32_t id = 0; id <= CALL_COSTS; id++)
		free(b->columns[id].values);
	free(b);
}

/* False: there is nothing in it. */
static bool find_column(struct qz_profile *p, uint32_t id, struct qz_column *column)
{
	if (id < QZ_FIGURE_IDS)
		return qz_figures__column(p, id, column);
	*column = (struct qz_column) {.first = (char *)p->calls,
				      .size = sizeof(*p->calls),
				      .at = offsetof(struct qz_call_count, cost_ns),
				      .n = p->ncalls};
	return p->ncalls;
}

static bool has_any(const struct qz_column *column)
{
	for (uint32_t i = 0; i < column->n; i++) {
		const uint64_t *figure = qz_column__at(column, i);

		if (figure && *figure)
			return true;
	}
	return false;
}

/* Makes room for all that is to be kept of p: most columns of ten thousand scopes are 0 throughout, and take none. */
static int make_room(struct qz_baseline *b, struct qz_profile *p)
{
	struct qz_column column;
	int err = 0;

	for (uint32_t id = 0; !err && id <= CALL_COSTS; id = qz_figures__next(p, id))
		if (find_column(p, id, &column) && has_any(&column))
			err = qz_kept__grow(&b->columns[id], column.n);
	return err;
}

/* Where there is no room, 0 is kept. */
static void visit_column(const struct qz_column *column, struct qz_kept *kept, visit_figure *visit)
{
	for (uint32_t i = 0; i < column->n; i++) {
		uint64_t *figure = qz_column__at(column, i), zero = 0;

		if (figure)
			visit(figure, i < kept->n ? &kept->values[i] : &zero);
	}
}

/* Entities are only added, each list at its end, so that what is kept stays in its place. */
static void visit_all(struct qz_baseline *b, struct qz_profile *p, visit_figure *visit)
{
	struct qz_column column;

	for (uint32_t id = 0; id <= CALL_COSTS; id = qz_figures__next(p, id))
		if (find_column(p, id, &column))
			visit_column(&column, &b->columns[id], visit);
}

static void keep(uint64_t *figure, uint64_t *kept)
{
	*kept = *figure;
}

static void restore(uint64_t *figure, uint64_t *kept)
{
	*figure = *kept;
}

static void exchange(uint64_t *figure, uint64_t *kept)
{
	uint64_t added = *figure - *kept;

	*figure = *kept;
	*kept = added;
}

static void subtract(uint64_t *figure, uint64_t *kept)
{
	*figure -= *figure < *kept ? *figure : *kept;
}

static void advance(uint64_t *figure, uint64_t *kept)
{
	*kept += *figure;
}

int qz_baseline__set(struct qz_baseline *b, struct qz_profile *p)
{
	int err = make_room(b, p);

	if (!err)
		visit_all(b, p, keep);
	return err;
}

void qz_baseline__restore(struct qz_baseline *b, struct qz_profile *p)
{
	visit_all(b, p, restore);
	qz_ledger__close(&p->ledger);
}

int qz_baseline__exchange(struct qz_baseline *b, struct qz_profile *p)
{
	int err = make_room(b, p);

	if (!err)
		visit_all(b, p, exchange);
	return err;
}

void qz_baseline__advance(struct qz_baseline *b, struct qz_profile *p)
{
	visit_all(b, p, advance);
}

/* ---- subtraction ---- */

/* Of a thread's waits: what is kept and is not in p any more. Waits of no thread are one thread more. */
static uint64_t *excess_of(uint64_t *all, const struct qz_profile *p, uint32_t wait)
{
	uint32_t thread = p->waits[wait].thread;

	return &all[thread == QZ_NONE ? p->nthreads : thread];
}

static void take_less(uint64_t *figure, uint64_t *rest)
{
	uint64_t less = *figure < *rest ? *figure : *rest;

	*figure -= less;
	*rest -= less;
}

/* What is not left because of the excess will be later, when there is none any more. */
static void subtract_waits(const struct qz_column *column, struct qz_kept *kept,
			   const struct qz_profile *p, uint64_t *excess)
{
	memset(excess, 0, (p->nthreads + 1ul) * sizeof(*excess));
	for (uint32_t i = 0; i < column->n && i < kept->n; i++) {
		uint64_t now = *qz_column__at(column, i);

		if (kept->values[i] > now)
			*excess_of(excess, p, i) += kept->values[i] - now;
	}
	visit_column(column, kept, subtract);
	for (uint32_t i = 0; i < column->n; i++)
		take_less(qz_column__at(column, i), excess_of(excess, p, i));
}

int qz_baseline__subtract(struct qz_baseline *b, struct qz_profile *p)
{
	uint64_t *excess = calloc(p->nthreads + 1ul, sizeof(*excess));
	int err = excess ? make_room(b, p) : -ENOMEM;
	struct qz_column column;

	for (uint32_t id = 0; !err && id <= CALL_COSTS; id = qz_figures__next(p, id)) {
		if (!find_column(p, id, &column))
			continue;
		if (column.first == (const char *)p->waits)
			subtract_waits(&column, &b->columns[id], p, excess);
		else
			visit_column(&column, &b->columns[id], subtract);
	}
	free(excess);
	if (err)
		return err;
	qz_ledger__close(&p->ledger);
	for (uint32_t i = 0; i < p->nscopes; i++)
		qz_scope__sum_levels(&p->scopes[i]);
	return 0;
}
