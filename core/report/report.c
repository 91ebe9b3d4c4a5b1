/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/order.h"
#include "core/util/vec.h"
#include "core/report/polled.h"
#include "core/report/figure.h"
#include "core/report/idle_time.h"
#include "core/report/idle_threads.h"
#include "core/report/wait_report.h"

/* The row of a procedure, and the sample that counted it last. */
struct place {
	uint32_t row; /* QZ_NONE: not among them yet */
	uint32_t stamp;
};

static struct place *places_new(uint32_t n)
{
	struct place *places = malloc((n ? n : 1) * sizeof(*places));

	for (uint32_t i = 0; places && i < n; i++)
		places[i] = (struct place) {QZ_NONE, QZ_NONE};
	return places;
}

static void sum_levels(struct qz_report *r)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	double cpu_ns = 0;

	r->elapsed_ns = scope->elapsed_ns;
	for (uint32_t n = 1; n < scope->nlevels; n++) {
		r->busy_ns += r->effective_ns[n];
		cpu_ns += (double)n * (double)r->effective_ns[n];
	}
	r->idle_ns = r->elapsed_ns > r->busy_ns ? r->elapsed_ns - r->busy_ns : 0;
	r->effective_ns[0] = r->idle_ns;
	r->serial_ns = scope->nlevels > 1 ? r->effective_ns[1] : 0;
	r->parallelism = r->busy_ns ? cpu_ns / (double)r->busy_ns : 0;
}

static int make_room_for_weighted(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint32_t i = 0;

	while (i < p->nsamples && (!p->samples[i].seen || p->samples[i].below))
		i++;
	if (i == p->nsamples)
		return 0;
	r->level_weighted = calloc(r->nlevels, 2 * sizeof(*r->level_weighted));
	if (!r->level_weighted)
		return -ENOMEM;
	r->level_seen = r->level_weighted + r->nlevels;
	return 0;
}

/* What the figures of all rows are made from. */
static void count_levels(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint64_t beside = 0;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != r->scope)
			continue;
		r->level_samples[s->level] += qz_sample__weight(s);
		r->level_squares[s->level] += qz_sample__weight(s) << s->halvings;
		if (s->seen && !s->below) {
			r->level_weighted[s->level] += qz_sample__weight(s);
			r->level_seen[s->level] += s->seen << s->halvings;
		}
		beside += s->level > 1 ? s->count : 0;
		if (s->busy)
			r->effective_ns[s->busy] += s->norm_ns;
		if (s->spinning)
			r->spin_ns += s->cpu_ns;
	}
	if (beside)
		r->turn_share = (double)p->scopes[r->scope].counters.spin_turns / (double)beside;
	if (r->turn_share > 1)
		r->turn_share = 1;
}

/* ---- procedures ---- */

static struct qz_row *row_of(struct qz_report *r, struct place *place, uint32_t procedure)
{
	struct qz_row *row;

	if (place->row != QZ_NONE)
		return &r->rows[place->row];
	if (qz_array__reserve((void **)&r->rows, r->nrows, sizeof(*r->rows)))
		return NULL;
	row = &r->rows[r->nrows];
	*row = (struct qz_row) {.procedure = procedure};
	if (qz_figure__init(&row->self, r) || qz_figure__init(&row->total, r)) {
		qz_figure__clear(&row->self);
		return NULL;
	}
	place->row = r->nrows++;
	return row;
}

static int count_sample(struct qz_report *r, struct place *places, uint32_t index)
{
	const struct qz_profile *p = r->profile;
	const struct qz_sample *s = &p->samples[index];
	struct qz_frames frames = {.profile = p, .node = s->node};
	uint32_t procedure = qz_frames__next(&frames);
	bool innermost = true;

	if (procedure != QZ_NONE && p->procedures[procedure].kind == QZ_INSTRUMENTATION) {
		r->instrumentation_ns += s->norm_ns;
		r->instrumentation_cpu_ns += s->cpu_ns;
	} else if (procedure == QZ_NONE || p->procedures[procedure].kind != QZ_PROCEDURE) {
		r->unattributed_ns += s->norm_ns;
	}
	for (; procedure != QZ_NONE; procedure = qz_frames__next(&frames), innermost = false) {
		struct place *place = &places[procedure];
		struct qz_row *row;

		if (p->procedures[procedure].kind != QZ_PROCEDURE || place->stamp == index)
			continue;
		row = row_of(r, place, procedure);
		if (!row)
			return -ENOMEM;
		place->stamp = index;
		qz_figure__add(&row->total, r, s);
		if (innermost)
			qz_figure__add(&row->self, r, s);
	}
	return 0;
}

/* Stamps of waits follow those of samples. */
static int count_wait(struct qz_report *r, struct place *places, uint32_t index)
{
	const struct qz_profile *p = r->profile;
	const struct qz_wait *w = &p->waits[index];
	struct qz_frames frames = {.profile = p, .node = w->node};
	bool innermost = true;
	uint32_t procedure;

	for (; (procedure = qz_frames__next(&frames)) != QZ_NONE; innermost = false) {
		struct place *place = &places[procedure];
		struct qz_row *row;

		if (p->procedures[procedure].kind != QZ_PROCEDURE ||
		    place->stamp == p->nsamples + index)
			continue;
		row = row_of(r, place, procedure);
		if (!row || qz_causes__add(&row->causes, r, w))
			return -ENOMEM;
		place->stamp = p->nsamples + index;
		qz_wait_figure__add_at(&row->total_waits, r, w);
		if (innermost)
			qz_wait_figure__add_at(&row->self_waits, r, w);
	}
	return 0;
}

static int compare_rows(const void *x, const void *y, void *profile)
{
	const struct qz_row *a = x, *b = y;
	const struct qz_procedure *procs = ((const struct qz_profile *)profile)->procedures;

	return qz_order(b->total.norm_ns, a->total.norm_ns)
		?: qz_order(b->self.norm_ns, a->self.norm_ns)
		?: qz_order(b->total_waits.blocked_ns, a->total_waits.blocked_ns)
		?: strcmp(procs[a->procedure].name, procs[b->procedure].name)
		?: qz_order(a->procedure, b->procedure);
}

static int build_rows(struct qz_report *r)
{
	struct qz_profile *p = (struct qz_profile *)r->profile; /* for qsort_r, which only reads */
	struct place *places = places_new(p->nprocedures);
	int err = places ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		uint32_t index = qz_report__sample(r, i);

		if (p->samples[index].scope == r->scope)
			err = count_sample(r, places, index);
	}
	for (uint32_t i = 0; !err && i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope))
			err = count_wait(r, places, i);
	free(places);
	if (err)
		return err;
	for (uint32_t i = 0; i < r->nrows; i++) {
		qz_figure__finish(&r->rows[i].self, r);
		qz_figure__finish(&r->rows[i].total, r);
		qz_causes__sort(&r->rows[i].causes);
	}
	if (r->nrows)
		qsort_r(r->rows, r->nrows, sizeof(*r->rows), compare_rows, p);
	return 0;
}

/* ---- threads ---- */

static int add_thread_row(struct qz_report *r, struct place *place, uint32_t thread)
{
	if (qz_array__reserve((void **)&r->threads, r->nthreads, sizeof(*r->threads)))
		return -ENOMEM;
	r->threads[r->nthreads] = (struct qz_thread_row) {
		.thread = thread, .top_cause = QZ_NONE, .top_object = QZ_NONE};
	if (qz_figure__init(&r->threads[r->nthreads].figure, r))
		return -ENOMEM;
	place->row = r->nthreads++;
	return 0;
}

/* Whose a polled sample is, the pollers have seen, whatever was shared out below its stack. */
static void add_to_thread(struct qz_report *r, uint32_t row, struct qz_sample s)
{
	if (s.below)
		s.below = s.seen = 0;
	qz_figure__add(&r->threads[row].figure, r, &s);
}

static int compare_threads(const void *x, const void *y, void *profile)
{
	const struct qz_thread_row *a = x, *b = y;
	const struct qz_thread *threads = ((const struct qz_profile *)profile)->threads;
	int32_t tid_a = threads[a->thread].tid, tid_b = threads[b->thread].tid;

	return qz_order(b->figure.norm_ns, a->figure.norm_ns)
		?: (tid_a > tid_b) - (tid_a < tid_b)
		?: qz_order(a->thread, b->thread);
}

static int build_threads(struct qz_report *r)
{
	struct qz_profile *p = (struct qz_profile *)r->profile; /* for qsort_r, which only reads */
	struct place *places = places_new(p->nthreads);
	int err = places ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nthreads; i++)
		if (qz_scope__covers(p, r->scope, p->threads[i].scope))
			err = add_thread_row(r, &places[i], i);
	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope == r->scope && s->thread != QZ_NONE)
			add_to_thread(r, places[s->thread].row, *s);
	}
	free(places);
	if (err)
		return err;
	for (uint32_t i = 0; i < r->nthreads; i++)
		qz_figure__finish(&r->threads[i].figure, r);
	if (r->nthreads)
		qsort_r(r->threads, r->nthreads, sizeof(*r->threads), compare_threads, p);
	return 0;
}

/* ---- report ---- */

struct qz_report *qz_report__new(const struct qz_profile *p, uint32_t scope)
{
	struct qz_report *r;

	if (scope >= p->nscopes) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->profile = p;
	r->scope = scope;
	r->nlevels = p->scopes[scope].nlevels;
	r->level_samples = calloc(r->nlevels, sizeof(*r->level_samples));
	r->effective_ns = calloc(r->nlevels, sizeof(*r->effective_ns));
	r->level_squares = calloc(r->nlevels, sizeof(*r->level_squares));
	if (!r->level_samples || !r->level_squares || !r->effective_ns || make_room_for_weighted(r))
		goto fail;
	count_levels(r);
	sum_levels(r);
	qz_wait_report__find_doubt(r);
	if (qz_idle_threads__find(r) || qz_idle_time__charge(r) || qz_polled__build(r) ||
	    build_rows(r) || build_threads(r) || qz_wait_report__build(r))
		goto fail;
	if (qz_object_cost__build(r))
		goto fail;
	return r;
fail:
	qz_report__free(r);
	errno = ENOMEM;
	return NULL;
}

void qz_report__free(struct qz_report *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nrows; i++) {
		qz_figure__clear(&r->rows[i].self);
		qz_figure__clear(&r->rows[i].total);
		free(r->rows[i].causes.rows);
	}
	for (uint32_t i = 0; i < r->nthreads; i++)
		qz_figure__clear(&r->threads[i].figure);
	for (uint32_t i = 0; i < r->nobjects; i++)
		qz_figure__clear(&r->objects[i].figure);
	free(r->rows);
	free(r->threads);
	free(r->objects);
	free(r->causes.rows);
	free(r->level_samples);
	free(r->level_squares);
	free(r->level_weighted);
	free(r->stacks);
	free(r->order);
	free(r->idle);
	free(r->charges);
	free(r->effective_ns);
	free(r);
}

const struct qz_object_row *qz_report__object(const struct qz_report *r, uint32_t object)
{
	for (uint32_t i = 0; i < r->nobjects; i++)
		if (r->objects[i].object == object)
			return &r->objects[i];
	return NULL;
}
