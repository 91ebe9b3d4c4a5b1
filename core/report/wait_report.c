/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/wait_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/order.h"
#include "core/util/statistics.h"
#include "core/util/vec.h"
#include "core/report/figure.h"
#include "core/report/idle_time.h"

#define VARIANCE_UNIT (1 << 20) /* of qz_wait.variance, in ns^2 */

/* ---- figures ---- */

static void add_doubt(struct qz_wait_doubt *d, const struct qz_wait *w)
{
	d->ns += (double)w->blocked_ns + (double)w->ready_ns;
	d->variance += (double)w->variance * VARIANCE_UNIT;
}

void qz_wait_figure__add(struct qz_wait_figure *f, const struct qz_report *r,
			 const struct qz_wait *w)
{
	f->count += w->count;
	f->blocked_ns += w->blocked_ns;
	f->ready_ns += w->ready_ns;
	if (w->thread != QZ_NONE && r->idle[w->thread])
		f->idle_ns += w->blocked_ns;
	f->charged_ns += r->charges[w - r->profile->waits].blocked_ns +
			 r->charges[w - r->profile->waits].ready_ns;
}

void qz_wait_figure__add_at(struct qz_wait_figure *f, const struct qz_report *r,
			    const struct qz_wait *w)
{
	qz_wait_figure__add(f, r, w);
	if (!w->variance)
		return;
	add_doubt(&f->doubt, w);
	f->doubts = &r->doubt;
}

uint64_t qz_wait_figure__time(const struct qz_wait_figure *f)
{
	return f->blocked_ns + f->ready_ns;
}

uint64_t qz_wait_figure__ci(const struct qz_wait_figure *f)
{
	double share, own = f->doubt.variance;

	if (!f->doubts)
		return 0;
	share = f->doubts->ns > 0 ? f->doubt.ns / f->doubts->ns : 0;
	return (uint64_t)(QZ_Z_95 * sqrt((1 - share) * (1 - share) * own +
					 share * share * (f->doubts->variance - own)));
}

int qz_causes__add(struct qz_causes *causes, const struct qz_report *r, const struct qz_wait *w)
{
	uint32_t i = 0;

	while (i < causes->n && causes->rows[i].cause != w->cause)
		i++;
	if (i == causes->n) {
		if (qz_array__reserve((void **)&causes->rows, causes->n, sizeof(*causes->rows)))
			return -ENOMEM;
		causes->rows[causes->n++] = (struct qz_cause_row) {.cause = w->cause};
	}
	qz_wait_figure__add_at(&causes->rows[i].waits, r, w);
	return 0;
}

static int compare_causes(const void *x, const void *y)
{
	const struct qz_cause_row *a = x, *b = y;

	return qz_order(qz_wait_figure__time(&b->waits), qz_wait_figure__time(&a->waits))
		       ?: qz_order(a->cause, b->cause);
}

void qz_causes__sort(struct qz_causes *causes)
{
	if (causes->n)
		qsort(causes->rows, causes->n, sizeof(*causes->rows), compare_causes);
}

/* ---- objects ---- */

static int compare_objects(const void *x, const void *y, void *profile)
{
	const struct qz_object_row *a = x, *b = y;
	const struct qz_object *objects = ((const struct qz_profile *)profile)->objects;
	const struct qz_object *o = &objects[a->object], *q = &objects[b->object];

	return qz_order(b->figure.norm_ns, a->figure.norm_ns)
		?: qz_order(q->wait_ns + b->figure.spin_ns, o->wait_ns + a->figure.spin_ns)
		?: strcmp(o->name, q->name)
		?: qz_order(a->object, b->object);
}

static int add_objects(struct qz_report *r, uint32_t *rows)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nobjects; i++) {
		struct qz_object_row *row;

		if (!qz_scope__covers(p, r->scope, p->objects[i].scope))
			continue;
		if (qz_array__reserve((void **)&r->objects, r->nobjects, sizeof(*r->objects)))
			return -ENOMEM;
		row = &r->objects[r->nobjects];
		*row = (struct qz_object_row) {.object = i};
		if (qz_figure__init(&row->figure, r))
			return -ENOMEM;
		rows[i] = r->nobjects++;
	}
	return 0;
}

static int build_objects(struct qz_report *r)
{
	struct qz_profile *p = (struct qz_profile *)r->profile; /* for qsort_r, which only reads */
	uint32_t *rows = calloc((size_t)p->nobjects + 1, sizeof(*rows));
	int err = rows ? add_objects(r, rows) : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[qz_report__sample(r, i)];

		if (s->scope == r->scope && s->object != QZ_NONE)
			qz_figure__add(&r->objects[rows[s->object]].figure, r, s);
	}
	for (uint32_t i = 0; !err && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->object != QZ_NONE && qz_scope__covers(p, r->scope, w->scope))
			qz_wait_figure__add(&r->objects[rows[w->object]].waits, r, w);
	}
	free(rows);
	if (err)
		return err;
	for (uint32_t i = 0; i < r->nobjects; i++)
		qz_figure__finish(&r->objects[i].figure, r);
	if (r->nobjects)
		qsort_r(r->objects, r->nobjects, sizeof(*r->objects), compare_objects, p);
	return 0;
}

/* ---- threads ---- */

static int compare_waits(const void *x, const void *y, void *profile)
{
	const struct qz_wait *waits = ((const struct qz_profile *)profile)->waits;
	const struct qz_wait *a = &waits[*(const uint32_t *)x], *b = &waits[*(const uint32_t *)y];

	return qz_order(a->thread, b->thread)
		?: qz_order(a->cause, b->cause)
		?: qz_order(a->object, b->object);
}

uint32_t *qz_wait_report__by_thread(const struct qz_report *r, uint32_t *n)
{
	struct qz_profile *p = (struct qz_profile *)r->profile; /* for qsort_r, which only reads */
	uint32_t *sorted = calloc((size_t)p->nwaits + 1, sizeof(*sorted));

	*n = 0;
	for (uint32_t i = 0; sorted && i < p->nwaits; i++)
		if (p->waits[i].thread != QZ_NONE &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope))
			sorted[(*n)++] = i;
	if (*n)
		qsort_r(sorted, *n, sizeof(*sorted), compare_waits, p);
	return sorted;
}

static void find_top(struct qz_thread_row **row_of, const struct qz_report *r,
		     const uint32_t *sorted, uint32_t n)
{
	const struct qz_profile *p = r->profile;
	uint64_t group = 0, top = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct qz_wait *w = &p->waits[sorted[i]];
		const struct qz_wait *before = i ? &p->waits[sorted[i - 1]] : w;
		struct qz_thread_row *row = row_of[w->thread];

		if (w->thread != before->thread)
			top = 0;
		if (w->thread != before->thread || w->cause != before->cause ||
		    w->object != before->object)
			group = 0;
		qz_wait_figure__add(&row->waits, r, w);
		group += w->blocked_ns + w->ready_ns;
		if (group > top) {
			top = group;
			row->top_cause = w->cause;
			row->top_object = w->object;
		}
	}
}

static int build_thread_waits(struct qz_report *r)
{
	struct qz_thread_row **row_of = calloc((size_t)r->profile->nthreads + 1, sizeof(*row_of));
	uint32_t n, *sorted = qz_wait_report__by_thread(r, &n);
	int err = row_of && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < r->nthreads; i++)
		row_of[r->threads[i].thread] = &r->threads[i];
	if (!err)
		find_top(row_of, r, sorted, n);
	free(sorted);
	free(row_of);
	return err;
}

void qz_wait_report__find_doubt(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].variance && qz_scope__covers(p, r->scope, p->waits[i].scope))
			add_doubt(&r->doubt, &p->waits[i]);
}

int qz_wait_report__build(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		if (!qz_scope__covers(p, r->scope, p->waits[i].scope))
			continue;
		qz_wait_figure__add(&r->waits, r, &p->waits[i]);
		if (qz_causes__add(&r->causes, r, &p->waits[i]))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->causes.n; i++)
		r->causes.rows[i].waits.doubts = NULL; /* wherever it was */
	qz_causes__sort(&r->causes);
	return build_objects(r) || build_thread_waits(r) ? -ENOMEM : 0;
}
