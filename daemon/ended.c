// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/ended.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/merge.h"

/*
 * Drains from when a scope is seen to have ended until all that was sampled in it, and reported of it by
 * then, is part of the profile: both halves of the tables have been drained since.
 */
#define SETTLED_DRAINS 3
/* So many processes more, and the memory that they take is looked at. */
#define LOOK_AFTER 64

struct ended {
	uint64_t bytes;
	uint32_t n;	 /* scopes of the engine */
	uint32_t *since; /* of each, the drain at which it was seen to have ended; 0: it has not */
	bool *gone, *in_use; /* of each, in one call of ended__settle() */
	uint32_t drains;
	uint32_t retired; /* since memory was last looked at */
	uint64_t folded;
};

struct ended *ended__new(const struct engine *engine, uint64_t bytes)
{
	struct ended *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->bytes = bytes;
	e->n = engine__max_scopes(engine);
	e->since = calloc(e->n, sizeof(*e->since));
	e->gone = calloc(e->n, sizeof(*e->gone));
	e->in_use = calloc(e->n, sizeof(*e->in_use));
	if (e->since && e->gone && e->in_use)
		return e;
	ended__free(e);
	errno = ENOMEM;
	return NULL;
}

void ended__free(struct ended *e)
{
	if (!e)
		return;
	free(e->since);
	free(e->gone);
	free(e->in_use);
	free(e);
}

uint64_t ended__folded(const struct ended *e)
{
	return e->folded;
}

/* ---- numbers of the engine ---- */

/* The profile stands aside for one of the engine's numbers, as everybody has it. */
static void tell(const struct ended_context *c, uint32_t scope, uint32_t index)
{
	waits__add_scope(c->waits, scope, index);
	if (c->moments)
		moments__add_scope(c->moments, scope, index);
	if (c->page_figures)
		page_figures__add_scope(c->page_figures, scope, index);
}

/* What a program told of itself is taken in when its pages are given back. */
static void look_at_pages(struct ended *e, const struct ended_context *c)
{
	memset(e->in_use, 0, e->n * sizeof(*e->in_use));
	for (uint32_t i = 0; c->pages && i < pages__limit(c->pages); i++) {
		const struct page *page = pages__at(c->pages, i);
		const struct image *image = page ? images__get(c->images, page->image) : NULL;

		if (image && image->scope < e->n)
			e->in_use[image->scope] = true;
	}
}

static bool is_settled(struct ended *e, const struct ended_context *c, uint32_t scope)
{
	if (!engine__scope_ended(c->engine, scope)) {
		e->since[scope] = 0;
		return false;
	}
	if (!e->since[scope])
		e->since[scope] = e->drains;
	return e->drains - e->since[scope] >= SETTLED_DRAINS && !e->in_use[scope] &&
	       !waits__use_scope(c->waits, scope);
}

/* Nothing was heard of one whose reports were lost, but what the engine counted. */
static int retire(struct ended *e, const struct ended_context *c, uint32_t scope)
{
	if (scopes__index(c->scopes, scope) == QZ_NONE) {
		int64_t index = scopes__add(c->scopes, scope, QZ_SCOPE_PROCESS,
					    engine__scope_pid(c->engine, scope), "", "");

		if (index < 0)
			return (int)index;
		waits__add_scope(c->waits, scope, index);
	}
	scopes__retire(c->scopes, scope, c->waits);
	tell(c, scope, QZ_NONE);
	e->since[scope] = 0;
	e->gone[scope] = true;
	e->retired++;
	return 0;
}

/* Numbers are given to others when nobody knows them any more. */
static int retire_settled(struct ended *e, const struct ended_context *c)
{
	uint32_t n = 0;
	int err = 0;

	look_at_pages(e, c);
	memset(e->gone, 0, e->n * sizeof(*e->gone));
	for (uint32_t i = QZ_OWN_SCOPES; !err && i < e->n; i++) {
		if (!is_settled(e, c, i))
			continue;
		err = retire(e, c, i);
		n += !err;
	}
	if (!n)
		return err;
	waits__forget(c->waits, e->gone);
	images__forget(c->images, e->gone);
	for (uint32_t i = QZ_OWN_SCOPES; i < e->n; i++)
		if (e->gone[i])
			err = engine__recycle_scope(c->engine, i) ?: err;
	return err;
}

/* ---- memory ---- */

struct candidate {
	uint32_t scope;
	uint64_t cpu_ns, bytes;
};

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? -1 : 1;
	return (x->scope > y->scope) - (x->scope < y->scope);
}

/* The scope that stands for the others, with its row of threads; made when it is not there. */
static int find_other(const struct ended_context *c, uint32_t *scope, uint32_t *row)
{
	struct qz_scope other = {
		.kind = QZ_SCOPE_PROCESS,
		.comm = QZ_ENDED_NAME,
		.ended = true,
		.nlevels = engine__level_stride(c->engine),
	};
	int64_t index = 0;

	*scope = QZ_NONE;
	for (uint32_t i = 0; i < c->profile->nscopes; i++)
		if (scopes__is_other(&c->profile->scopes[i]))
			*scope = i;
	if (*scope == QZ_NONE) {
		index = qz_profile__add_scope(c->profile, &other);
		if (index < 0)
			return (int)index;
		*scope = (uint32_t)index;
	}
	*row = threads__merged_row(c->threads, *scope, QZ_ENDED_NAME);
	return *row == QZ_NONE ? -ENOMEM : 0;
}

/* Those that have ended and have no number any more, with the memory that all of them take. */
static uint32_t find_candidates(const struct ended_context *c, const uint64_t *bytes,
				struct candidate *all, uint64_t *sum)
{
	uint32_t n = 0;

	*sum = 0;
	for (uint32_t i = 0; i < c->profile->nscopes; i++) {
		const struct qz_scope *s = &c->profile->scopes[i];

		if (s->kind != QZ_SCOPE_PROCESS || scopes__is_other(s) ||
		    scopes__has_number(c->scopes, i))
			continue;
		all[n++] = (struct candidate) {i, s->cpu_ns, bytes[i]};
		*sum += bytes[i];
	}
	return n;
}

/* Marks the least ones, until what stays takes three quarters of what is wanted. Gives how many. */
static uint32_t mark(const struct ended *e, const struct ended_context *c, bool *marked)
{
	uint32_t nscopes = c->profile->nscopes, n = 0, done = 0;
	uint64_t *bytes = calloc(nscopes + 1ul, sizeof(*bytes)), sum = 0;
	struct candidate *all = calloc(nscopes + 1ul, sizeof(*all));

	if (bytes && all) {
		qz_profile__sizes(c->profile, bytes);
		n = find_candidates(c, bytes, all, &sum);
	}
	if (sum > e->bytes) {
		qsort(all, n, sizeof(*all), compare);
		for (; done < n && sum > e->bytes / 4 * 3; done++) {
			marked[all[done].scope] = true;
			sum -= all[done].bytes;
		}
	}
	free(bytes);
	free(all);
	return done;
}

/* Everybody who knows indices of the profile. */
static int tell_folded(const struct ended_context *c, const struct qz_maps *maps)
{
	int err = threads__folded(c->threads, maps);

	scopes__folded(c->scopes, maps);
	for (uint32_t i = 0; i < engine__max_scopes(c->engine); i++)
		if (scopes__index(c->scopes, i) != QZ_NONE)
			tell(c, i, scopes__index(c->scopes, i));
	waits__folded(c->waits, maps);
	undecided__folded(c->undecided, maps);
	if (c->page_figures)
		err = page_figures__folded(c->page_figures, maps) ?: err;
	if (c->polling)
		err = polling__folded(c->polling, maps) ?: err;
	return err ? -ENOTRECOVERABLE : 0;
}

/* What only holds up to the next refresh goes along. */
static int fold(struct ended *e, const struct ended_context *c)
{
	bool *marked = calloc(c->profile->nscopes + 1ul, sizeof(*marked));
	uint32_t n = marked ? mark(e, c, marked) : 0, other = QZ_NONE, row = QZ_NONE;
	struct qz_maps maps = {0};
	int err = marked ? 0 : -ENOMEM;

	if (n) {
		if (c->before)
			c->before(c->context);
		if (c->polling)
			polling__fold(c->polling);
		err = find_other(c, &other, &row);
		err = err ?: qz_profile__fold(c->profile, marked, other, row, &maps);
		if (!err) {
			e->folded += n;
			err = tell_folded(c, &maps);
		}
		if (!err && c->after)
			c->after(c->context);
		qz_maps__free(&maps);
		malloc_trim(0); /* what was freed lies between what stays */
	}
	free(marked);
	return err;
}

int ended__settle(struct ended *e, const struct ended_context *c)
{
	int err;

	e->drains++;
	threads__forget(c->threads);
	err = retire_settled(e, c);
	if (err || e->retired < LOOK_AFTER)
		return err;
	e->retired = 0;
	return fold(e, c);
}
