/* SPDX-License-Identifier: GPL-2.0-only */
/* Who waits for an object or spins on it from where, who ends the waits, and the metric made of that. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/order.h"
#include "core/util/vec.h"
#include "core/report/figure.h"
#include "core/report/wait_report.h"
#include "core/report/wakeup_report.h"

/* ---- stacks ---- */

struct stacks {
	struct qz_stack_row *rows;
	uint32_t n;
	uint32_t *slots; /* of each node: row, or QZ_NONE */
};

static struct qz_stack_row *stack_of(struct stacks *stacks, uint32_t node)
{
	uint32_t *slot = &stacks->slots[node];

	if (*slot == QZ_NONE) {
		if (qz_array__reserve((void **)&stacks->rows, stacks->n, sizeof(*stacks->rows)))
			return NULL;
		stacks->rows[stacks->n] = (struct qz_stack_row) {.node = node};
		*slot = stacks->n++;
	}
	return &stacks->rows[*slot];
}

typedef int collect_stacks(struct stacks *stacks, const struct qz_report *r, uint32_t object);

static int collect_waits(struct stacks *stacks, const struct qz_report *r, uint32_t object)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		struct qz_stack_row *row;

		if (p->waits[i].object != object)
			continue;
		row = stack_of(stacks, p->waits[i].node);
		if (!row)
			return -ENOMEM;
		qz_wait_figure__add_at(&row->waits, r, &p->waits[i]);
	}
	return 0;
}

static int collect_spins(struct stacks *stacks, const struct qz_report *r, uint32_t object)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		struct qz_stack_row *row;

		if (s->object != object || !s->spinning || s->scope != r->scope)
			continue;
		row = stack_of(stacks, s->node);
		if (!row)
			return -ENOMEM;
		row->spin_ns += s->cpu_ns;
	}
	return 0;
}

/* Rows that only say which code is charged are no wake-ups. */
static int collect_wakes(struct stacks *stacks, const struct qz_report *r, uint32_t object)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];
		struct qz_stack_row *row;

		if (w->object != object || !w->count)
			continue;
		row = stack_of(stacks, w->node);
		if (!row)
			return -ENOMEM;
		row->wakes += w->count;
		row->woken_ns += w->woken_ns;
	}
	return 0;
}

static int compare_stacks(const void *x, const void *y)
{
	const struct qz_stack_row *a = x, *b = y;

	return qz_order(qz_wait_figure__time(&b->waits), qz_wait_figure__time(&a->waits))
		?: qz_order(b->spin_ns, a->spin_ns)
		?: qz_order(b->wakes, a->wakes)
		?: qz_order(a->node, b->node);
}

static int stacks_of(const struct qz_report *r, uint32_t object, collect_stacks *collect,
		     struct qz_stack_row **rows, uint32_t *n)
{
	const struct qz_profile *p = r->profile;
	struct stacks stacks = {0};
	int err;

	if (object >= p->nobjects || !qz_scope__covers(p, r->scope, p->objects[object].scope))
		return -EINVAL;
	stacks.slots = malloc((size_t)p->nnodes * sizeof(*stacks.slots));
	if (!stacks.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nnodes; i++)
		stacks.slots[i] = QZ_NONE;
	err = collect(&stacks, r, object);
	free(stacks.slots);
	if (err) {
		free(stacks.rows);
		return err;
	}
	if (stacks.n)
		qsort(stacks.rows, stacks.n, sizeof(*stacks.rows), compare_stacks);
	*rows = stacks.rows;
	*n = stacks.n;
	return 0;
}

int qz_wakeup_report__waiters(const struct qz_report *r, uint32_t object,
			      struct qz_stack_row **rows, uint32_t *n)
{
	return stacks_of(r, object, collect_waits, rows, n);
}

int qz_wakeup_report__spinners(const struct qz_report *r, uint32_t object,
			       struct qz_stack_row **rows, uint32_t *n)
{
	return stacks_of(r, object, collect_spins, rows, n);
}

int qz_wakeup_report__wakers(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
			     uint32_t *n)
{
	return stacks_of(r, object, collect_wakes, rows, n);
}

/* ---- time until woken ---- */

/* The row of a procedure, and the waking that counted it last. */
struct place {
	uint32_t row, stamp;
};

enum { WAITED_IDLE = 1, WAITED_BUSY = 2 };

/* Who waited at each object: idle threads, others, or both. */
static uint8_t *find_waiters(const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint8_t *who = calloc((size_t)p->nobjects + 1, sizeof(*who));

	for (uint32_t i = 0; who && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		bool idle = w->thread != QZ_NONE && r->idle[w->thread];

		if (w->object != QZ_NONE)
			who[w->object] |= idle ? WAITED_IDLE : WAITED_BUSY;
	}
	return who;
}

static void count_nobody(const struct qz_profile *p, struct qz_woken *woken,
			 const struct qz_waking *w)
{
	woken->nobody_ns += w->woken_ns;
	woken->nobody_wakes += w->count;
	if (w->object != QZ_NONE && p->objects[w->object].kind < QZ_OBJECT_SPIN)
		woken->nobody_futex_ns += w->woken_ns;
}

static int count_waking(const struct qz_profile *p, struct qz_woken *woken, struct place *places,
			uint32_t index)
{
	const struct qz_waking *w = &p->wakings[index];
	struct qz_frames frames = {.profile = p, .node = w->node};
	uint32_t procedure = qz_frames__next(&frames);
	bool innermost = true;

	woken->woken_ns += w->woken_ns;
	woken->wakes += w->count;
	if (procedure == QZ_NONE || p->procedures[procedure].kind != QZ_PROCEDURE)
		woken->unattributed_ns += w->woken_ns;
	if (w->thread == QZ_NONE && procedure == QZ_NONE)
		count_nobody(p, woken, w);
	for (; procedure != QZ_NONE; procedure = qz_frames__next(&frames), innermost = false) {
		struct place *place = &places[procedure];

		if (p->procedures[procedure].kind != QZ_PROCEDURE || place->stamp == index)
			continue;
		if (place->row == QZ_NONE) {
			if (qz_array__reserve((void **)&woken->rows, woken->nrows,
					      sizeof(*woken->rows)))
				return -ENOMEM;
			woken->rows[woken->nrows] = (struct qz_woken_row) {.procedure = procedure};
			place->row = woken->nrows++;
		}
		place->stamp = index;
		woken->rows[place->row].total_ns += w->woken_ns;
		woken->rows[place->row].wakes += w->count;
		if (innermost)
			woken->rows[place->row].self_ns += w->woken_ns;
	}
	return 0;
}

static int compare_woken(const void *x, const void *y, void *profile)
{
	const struct qz_woken_row *a = x, *b = y;
	const struct qz_procedure *procs = ((const struct qz_profile *)profile)->procedures;

	return qz_order(b->total_ns, a->total_ns)
		?: qz_order(b->self_ns, a->self_ns)
		?: qz_order(b->wakes, a->wakes)
		?: strcmp(procs[a->procedure].name, procs[b->procedure].name)
		?: qz_order(a->procedure, b->procedure);
}

int qz_wakeup_report__woken(const struct qz_report *r, struct qz_woken *woken)
{
	struct qz_profile *p = (struct qz_profile *)r->profile; /* for qsort_r, which only reads */
	struct place *places = calloc((size_t)p->nprocedures + 1, sizeof(*places));
	uint8_t *who = find_waiters(r);
	int err = places && who ? 0 : -ENOMEM;

	*woken = (struct qz_woken) {0};
	for (uint32_t i = 0; !err && i < p->nprocedures; i++)
		places[i] = (struct place) {QZ_NONE, QZ_NONE};
	for (uint32_t i = 0; !err && !p->wakes_sampled && i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (!qz_scope__covers(p, r->scope, w->scope))
			continue;
		err = count_waking(p, woken, places, i);
		if (w->thread != QZ_NONE && w->object != QZ_NONE && who[w->object] == WAITED_IDLE)
			woken->idle_ns += w->woken_ns;
	}
	free(who);
	free(places);
	if (err) {
		free(woken->rows);
		*woken = (struct qz_woken) {0};
		return err;
	}
	if (woken->nrows)
		qsort_r(woken->rows, woken->nrows, sizeof(*woken->rows), compare_woken, p);
	return 0;
}
