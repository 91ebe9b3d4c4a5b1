/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/slices.h"

#include <errno.h>
#include <stdlib.h>

#include "core/transform/baseline.h"
#include "core/transform/merge.h"

struct qz_slices {
	struct qz_baseline *saved;
	uint64_t *alive; /* threads of each scope, at the last cut */
	uint32_t nscopes;
};

struct qz_slices *qz_slices__new(void)
{
	struct qz_slices *s = calloc(1, sizeof(*s));

	if (s)
		s->saved = qz_baseline__new();
	if (s && s->saved)
		return s;
	qz_slices__free(s);
	errno = ENOMEM;
	return NULL;
}

void qz_slices__free(struct qz_slices *s)
{
	if (!s)
		return;
	qz_baseline__free(s->saved);
	free(s->alive);
	free(s);
}

static int reserve(struct qz_slices *s, const struct qz_profile *p)
{
	uint64_t *alive = reallocarray(s->alive, p->nscopes + 1ul, sizeof(*alive));

	if (!alive)
		return -ENOMEM;
	s->alive = alive;
	return 0;
}

static void keep_alive(struct qz_slices *s, const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		s->alive[i] = p->scopes[i].threads_alive;
	s->nscopes = p->nscopes;
}

/* Threads that lived at the last cut lived when this slice began. */
static void set_threads_before(const struct qz_slices *s, struct qz_profile *p, bool set)
{
	for (uint32_t i = 0; i < p->nscopes && i < s->nscopes; i++)
		p->scopes[i].threads_before = set ? s->alive[i] : 0;
}

/* Subtracts earlier slices from the run, copies the rest, and restores the run. */
static int cut(struct qz_slices *s, struct qz_profile *run, struct qz_profile *slice)
{
	struct qz_baseline *whole = qz_baseline__new();
	int err = whole ? reserve(s, run) : -ENOMEM;

	qz_profile__drop_unattributed(run);
	err = err ? err : qz_baseline__set(whole, run);
	err = err ? err : qz_baseline__subtract(s->saved, run);
	if (!err) {
		set_threads_before(s, run, true);
		err = qz_merge__busy(slice, run);
		set_threads_before(s, run, false);
		if (!err) {
			qz_baseline__advance(s->saved, run);
			keep_alive(s, run);
		}
		qz_baseline__restore(whole, run);
	}
	qz_baseline__free(whole);
	return err;
}

struct qz_profile *qz_slices__cut(struct qz_slices *s, struct qz_profile *p)
{
	struct qz_profile *slice = qz_profile__new();
	int err = slice ? cut(s, p, slice) : -ENOMEM;

	if (!err)
		return slice;
	qz_profile__free(slice);
	errno = -err;
	return NULL;
}

int qz_slices__restart(struct qz_slices *s, struct qz_profile *p)
{
	int err = reserve(s, p);

	qz_profile__drop_unattributed(p);
	err = err ? err : qz_baseline__set(s->saved, p);
	if (!err)
		keep_alive(s, p);
	return err;
}

void qz_slices__end(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++) {
		p->scopes[i].counters.threads_seen += p->scopes[i].threads_before;
		p->scopes[i].threads_before = 0;
	}
}
