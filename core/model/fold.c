/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/profile_index.h"

struct fold {
	struct qz_profile *p;
	const bool *marked;
	uint32_t into, row;
};

/* ---- what refers to scopes ---- */

static void move(const struct fold *f, uint32_t *scope, uint32_t *thread, uint32_t *object)
{
	if (*thread != QZ_NONE && f->marked[f->p->threads[*thread].scope])
		*thread = f->row;
	if (*object != QZ_NONE && f->marked[f->p->objects[*object].scope])
		*object = QZ_NONE;
	if (f->marked[*scope])
		*scope = f->into;
}

/* Time without a sample, and that in libquartz, are estimated again. */
static bool move_sample(void *context, void *row)
{
	struct qz_sample *s = row;

	move(context, &s->scope, &s->thread, &s->object);
	return s->count;
}

static bool move_wait(void *context, void *row)
{
	struct qz_wait *w = row;

	move(context, &w->scope, &w->thread, &w->object);
	return w->count || w->blocked_ns || w->ready_ns;
}

static bool move_waking(void *context, void *row)
{
	struct qz_waking *w = row;

	move(context, &w->scope, &w->thread, &w->object);
	return w->count || w->woken_ns;
}

static bool move_call(void *context, void *row)
{
	const struct fold *f = context;
	struct qz_call_count *c = row;

	if (f->marked[c->scope])
		c->scope = f->into;
	return true;
}

static bool move_round(void *context, void *row)
{
	const struct fold *f = context;
	struct qz_round *r = row;

	if (f->marked[r->scope])
		r->scope = f->into;
	return true;
}

static const struct {
	const struct qz_rows *rows;
	bool (*move)(void *context, void *row);
} kinds[] = {
	{&qz_sample_rows, move_sample}, {&qz_polled_rows, move_sample},
	{&qz_wait_rows, move_wait},	{&qz_waking_rows, move_waking},
	{&qz_call_rows, move_call},	{&qz_round_rows, move_round},
};

static void move_rows(struct fold *f)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		qz_rows__change(f->p, kinds[i].rows, kinds[i].move, f);
		qz_rows__shrink(f->p, kinds[i].rows);
	}
	for (uint32_t i = 0; i < f->p->nopen; i++)
		move_wait(f, &f->p->open[i]);
}

/* ---- what they are ---- */

/* Room for all that is added, so that nothing can fail any more. */
static int make_room(struct fold *f)
{
	struct qz_scope *to = &f->p->scopes[f->into];
	int err = 0;

	for (uint32_t i = 0; !err && i < f->p->nscopes; i++) {
		const struct qz_scope *from = &f->p->scopes[i];

		if (!f->marked[i])
			continue;
		err = from->vacant
			      ? -EINVAL
			      : qz_levels__reach(&to->level_ns, &to->nlevels, from->nlevels - 1);
		for (uint32_t k = 0; !err && k < from->nstack_ends; k++)
			err = qz_losses__add(&to->stack_ends, &to->nstack_ends,
					     from->stack_ends[k].cause, 0);
	}
	return err;
}

static void move_threads(struct fold *f)
{
	struct qz_profile *p = f->p;

	for (uint32_t i = 0; i < p->nthreads; i++) {
		if (!f->marked[p->threads[i].scope])
			continue;
		qz_thread__add(&p->threads[f->row], &p->threads[i]);
		qz_thread__vacate(p, i, f->into);
	}
}

static void move_scopes(struct fold *f)
{
	struct qz_profile *p = f->p;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		if (!f->marked[i])
			continue;
		qz_scope__add(&p->scopes[f->into], &p->scopes[i]);
		qz_scope__vacate(p, i);
	}
}

/* Marks of all scopes, of which the first n are given: none that came later. NULL: no memory. */
static bool *all_marks(const struct qz_profile *p, const bool *marked, uint32_t n)
{
	bool *all = calloc(p->nscopes + 1ul, sizeof(*all));

	if (all)
		memcpy(all, marked, n * sizeof(*all));
	return all;
}

static int fold(struct fold *f)
{
	struct qz_profile *p = f->p;
	int err;

	if (f->into >= p->nscopes || f->marked[f->into] || f->row >= p->nthreads ||
	    p->threads[f->row].scope != f->into || p->threads[f->row].vacant)
		return -EINVAL;
	err = make_room(f);
	if (err)
		return err;
	move_rows(f);
	qz_objects__vacate(p, f->marked, f->into);
	move_threads(f);
	move_scopes(f);
	return 0;
}

int qz_fold__scopes(struct qz_profile *p, const bool *marked, uint32_t n, uint32_t into,
		    uint32_t row)
{
	bool *all = all_marks(p, marked, n);
	int err = all ? fold(&(struct fold) {p, all, into, row}) : -ENOMEM;

	free(all);
	return err;
}
