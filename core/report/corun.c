/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/corun.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/order.h"
#include "core/util/vec.h"

static uint32_t count_busy(const struct qz_round *m)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < m->n; i++)
		busy += !QZ_MEMBER_SPINS(m->members[i]);
	return busy;
}

static uint32_t count_busy_in(const struct qz_round *m, uint32_t procedure)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < m->n; i++)
		busy += m->members[i] == QZ_MEMBER(procedure, false);
	return busy;
}

static int add_level(struct qz_corun *corun, uint32_t level, uint64_t count)
{
	while (corun->nlevels <= level) {
		if (qz_array__reserve((void **)&corun->levels, corun->nlevels,
				      sizeof(*corun->levels)))
			return -ENOMEM;
		corun->levels[corun->nlevels++] = 0;
	}
	corun->levels[level] += count;
	return 0;
}

static int add_round(struct qz_corun *corun, const struct qz_round *m, uint32_t busy)
{
	corun->instants += m->count;
	corun->running += m->n * m->count;
	corun->spinning += (m->n - busy) * m->count;
	return add_level(corun, busy, m->count);
}

static int add_row(struct qz_corun *corun, const struct qz_corun_row *row)
{
	if (qz_array__reserve((void **)&corun->rows, corun->nrows, sizeof(*corun->rows)))
		return -ENOMEM;
	corun->rows[corun->nrows++] = *row;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct qz_corun_row *x = a, *y = b;

	return qz_order(y->instants, x->instants)
		?: qz_order(x->procedure, y->procedure)
		?: qz_order(x->round, y->round);
}

static void sort_rows(struct qz_corun *corun)
{
	if (corun->nrows)
		qsort(corun->rows, corun->nrows, sizeof(*corun->rows), compare_rows);
}

int qz_corun__sets(const struct qz_profile *p, uint32_t scope, struct qz_corun *corun)
{
	int err = 0;

	*corun = (struct qz_corun) {0};
	for (uint32_t i = 0; !err && i < p->nrounds; i++) {
		const struct qz_round *m = &p->rounds[i];
		uint32_t busy;

		if (m->scope != scope)
			continue;
		busy = count_busy(m);
		err = add_round(corun, m, busy);
		if (!err)
			err = add_row(corun, &(struct qz_corun_row) {
						     .round = i,
						     .procedure = QZ_NONE,
						     .instants = m->count,
						     .busy = busy * m->count,
						     .spinning = (m->n - busy) * m->count,
					     });
	}
	sort_rows(corun);
	return err;
}

/*
 * What the others are in; one of those in the procedure itself is none of the others. `number` is the
 * round's, from 1: each row counts it once.
 */
static void add_others(struct qz_corun_row *rows, const struct qz_round *m, uint32_t number,
		       uint32_t procedure)
{
	bool left_out = false;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t other = QZ_MEMBER_PROCEDURE(m->members[i]);
		struct qz_corun_row *row = &rows[other];

		if (!left_out && m->members[i] == QZ_MEMBER(procedure, false)) {
			left_out = true;
			continue;
		}
		if (QZ_MEMBER_SPINS(m->members[i]))
			row->spinning += m->count;
		else
			row->busy += m->count;
		if (row->round != number)
			row->instants += m->count;
		row->round = number;
	}
}

static int take_rows(struct qz_corun *corun, const struct qz_corun_row *rows, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		struct qz_corun_row row = rows[i];

		row.round = QZ_NONE;
		row.procedure = i;
		if (row.instants)
			err = add_row(corun, &row);
	}
	sort_rows(corun);
	return err;
}

int qz_corun__pairs(const struct qz_profile *p, uint32_t scope, uint32_t procedure,
		    struct qz_corun *corun)
{
	struct qz_corun_row *rows = calloc(p->nprocedures ? p->nprocedures : 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	*corun = (struct qz_corun) {0};
	for (uint32_t i = 0; !err && i < p->nrounds; i++) {
		const struct qz_round *m = &p->rounds[i];
		uint32_t busy;

		if (m->scope != scope || !count_busy_in(m, procedure))
			continue;
		busy = count_busy(m);
		err = add_round(corun, m, busy);
		if (busy == 1)
			corun->alone += m->count;
		add_others(rows, m, i + 1, procedure);
	}
	if (!err)
		err = take_rows(corun, rows, p->nprocedures);
	free(rows);
	return err;
}

void qz_corun__clear(struct qz_corun *corun)
{
	free(corun->levels);
	free(corun->rows);
	*corun = (struct qz_corun) {0};
}
