/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/costs/cost_table.h"

#include <errno.h>
#include <stdlib.h>

#include "core/report/figure.h"
#include "core/util/hash_table.h"
#include "core/util/order.h"

struct builder {
	struct qz_cost_table *table;
	const struct qz_report *report;
	struct qz_cost_walk walk;
	struct qz_hash_table index; /* of table->rows */
};

static int64_t row_of(struct builder *b, const struct qz_cost_stack *s, enum qz_cost cost)
{
	struct qz_cost_table *t = b->table;
	struct qz_cost_row new = {
		.cost = cost, .origin = s->origin, .asker = s->asker, .through = s->through};
	uint32_t i;
	int64_t row;

	/* Work that libraries do for a procedure is work of that one. */
	if (cost == QZ_COST_WORK || cost == QZ_COST_LINES) {
		new.origin = QZ_ORIGIN_OTHER;
		new.through = QZ_NONE;
	}
	i = QZ_FIND(&b->index, t->rows, &new, through);
	if (i != QZ_NONE)
		return i;
	if (qz_figure__init(&new.figure, b->report))
		return -ENOMEM;
	row = QZ_INTERN(&b->index, &t->rows, &t->n, &new, through);
	if (row < 0)
		qz_figure__clear(&new.figure);
	return row;
}

static void add_call(struct qz_cost_calls *calls, const struct qz_sample *sample)
{
	calls->samples += sample->count;
	calls->cpu_ns += sample->cpu_ns;
}

static int add(struct builder *b, const struct qz_sample *sample)
{
	struct qz_cost_stack s = qz_cost_walk__at(&b->walk, sample->node);
	enum qz_cost cost = qz_cost_walk__of(&b->walk, &s, sample);
	struct qz_cost_class *class = &b->table->classes[cost];
	int64_t row = row_of(b, &s, cost);

	if (row < 0)
		return (int)row;
	qz_figure__add(&b->table->rows[row].figure, b->report, sample);
	qz_figure__add(&class->figure, b->report, sample);
	if (s.bulk && !sample->spinning) {
		b->table->rows[row].bulk_norm_ns += sample->norm_ns;
		class->bulk_norm_ns += sample->norm_ns;
	}
	if (s.reads)
		add_call(&b->table->reading, sample);
	if (s.writes)
		add_call(&b->table->writing, sample);
	if (s.nested)
		b->table->rows[row].nested_norm_ns += sample->norm_ns;
	return 0;
}

static int add_all(struct builder *b)
{
	const struct qz_profile *p = b->report->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[qz_report__sample(b->report, i)];

		if (s->scope == b->report->scope && !qz_sample__is_unattributed(p, s))
			err = add(b, s);
	}
	return err;
}

/* ---- order ---- */

static int compare(const void *x, const void *y)
{
	const struct qz_cost_row *a = x, *b = y;
	int order = qz_order(a->cost, b->cost);

	order = order ? order : qz_order(b->figure.norm_ns, a->figure.norm_ns);
	order = order ? order : qz_order(b->figure.cpu_ns, a->figure.cpu_ns);
	order = order ? order : qz_order(a->asker, b->asker);
	order = order ? order : qz_order(a->through, b->through);
	return order ? order : qz_order(a->origin, b->origin);
}

static void finish(struct qz_cost_table *t, const struct qz_report *r)
{
	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), compare);
	for (uint32_t i = 0; i < t->n; i++) {
		struct qz_cost_class *class = &t->classes[t->rows[i].cost];

		qz_figure__finish(&t->rows[i].figure, r);
		if (!class->n++)
			class->rows = &t->rows[i];
	}
	for (int cost = 0; cost < QZ_COSTS; cost++)
		qz_figure__finish(&t->classes[cost].figure, r);
}

int qz_cost_table__find(struct qz_cost_table *t, const struct qz_report *r)
{
	struct builder b = {.table = t, .report = r};
	int err = 0;

	*t = (struct qz_cost_table) {0};
	for (int cost = 0; !err && cost < QZ_COSTS; cost++)
		err = qz_figure__init(&t->classes[cost].figure, r);
	err = err ? err : qz_cost_walk__init(&b.walk, r->profile);
	err = err ? err : add_all(&b);
	qz_hash_table__free(&b.index);
	qz_cost_walk__free(&b.walk);
	if (!err)
		finish(t, r);
	return err;
}

void qz_cost_table__free(struct qz_cost_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		qz_figure__clear(&t->rows[i].figure);
	for (int cost = 0; cost < QZ_COSTS; cost++)
		qz_figure__clear(&t->classes[cost].figure);
	free(t->rows);
	*t = (struct qz_cost_table) {0};
}

bool qz_cost_row__is_own_start(const struct qz_cost_row *row)
{
	return row->cost == QZ_COST_STARTING && row->asker == QZ_NONE &&
	       row->origin == QZ_ORIGIN_OTHER;
}

uint64_t qz_cost_table__norm(const struct qz_cost_table *t)
{
	uint64_t sum = 0;

	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++)
		sum += t->classes[cost].figure.norm_ns;
	return sum;
}

uint64_t qz_cost_table__cpu(const struct qz_cost_table *t)
{
	uint64_t sum = 0;

	for (int cost = QZ_COST_WORK + 1; cost < QZ_COSTS; cost++)
		sum += t->classes[cost].figure.cpu_ns;
	return sum;
}
