// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/scope_gc.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fold.h"
#include "core/transform/merge.h"
#include "daemon/waits/objects.h"

/*
 * Drains from when a scope is seen to have ended until all that was sampled in it, and reported of it by
 * then, is part of the profile: both halves of the tables have been drained since.
 */
#define SETTLED_DRAINS 3
/* So many processes more, and the memory that they take is looked at. */
#define LOOK_AFTER 64

struct scope_gc {
	uint64_t bytes;
	uint32_t n;	 /* scopes of the engine */
	uint32_t *since; /* of each, the drain at which it was seen to have ended; 0: it has not */
	bool *gone, *in_use; /* of each, in one call of scope_gc__settle() */
	uint32_t drains;
	uint32_t retired; /* since memory was last looked at */
	uint64_t folded;
	bool is_short;
};

struct scope_gc *scope_gc__new(const struct bpf_runtime *engine, uint64_t bytes)
{
	struct scope_gc *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->bytes = bytes;
	e->n = bpf_runtime__max_scopes(engine);
	e->since = calloc(e->n, sizeof(*e->since));
	e->gone = calloc(e->n, sizeof(*e->gone));
	e->in_use = calloc(e->n, sizeof(*e->in_use));
	if (e->since && e->gone && e->in_use)
		return e;
	scope_gc__free(e);
	errno = ENOMEM;
	return NULL;
}

void scope_gc__free(struct scope_gc *e)
{
	if (!e)
		return;
	free(e->since);
	free(e->gone);
	free(e->in_use);
	free(e);
}

uint64_t scope_gc__folded(const struct scope_gc *e)
{
	return e->folded;
}

bool scope_gc__is_short(const struct scope_gc *e)
{
	return e->is_short;
}

/* ---- numbers of the engine ---- */

/* What a program reported about itself is added when its pages are given back. */
static void check_pages(struct scope_gc *e, const struct scope_gc_context *c)
{
	memset(e->in_use, 0, e->n * sizeof(*e->in_use));
	for (uint32_t i = 0; c->pages && i < shm_sets__limit(c->pages); i++) {
		const struct page *page = shm_sets__at(c->pages, i);
		const struct image *image = page ? address_spaces__get(c->images, page->image)
						 : NULL;

		if (image && image->scope < e->n)
			e->in_use[image->scope] = true;
	}
}

static bool is_settled(struct scope_gc *e, const struct scope_gc_context *c, uint32_t scope)
{
	if (!bpf_scopes__ended(c->engine, scope)) {
		e->since[scope] = 0;
		return false;
	}
	if (!e->since[scope])
		e->since[scope] = e->drains;
	return e->drains - e->since[scope] >= SETTLED_DRAINS && !e->in_use[scope] &&
	       !wait_drain__use_scope(c->waits, scope);
}

/* Nothing was heard of one whose reports were lost, but what the engine counted. */
static int retire(struct scope_gc *e, const struct scope_gc_context *c, uint32_t scope)
{
	if (scopes__index(c->scopes, scope) == QZ_NONE &&
	    bpf_scopes__youth(c->engine, scope) != QZ_FOLDED) {
		int64_t index = scopes__add(c->scopes, scope, QZ_SCOPE_PROCESS,
					    bpf_scopes__pid(c->engine, scope), "", "");

		if (index < 0)
			return (int)index;
	}
	scopes__retire(c->scopes, scope, c->waits);
	e->since[scope] = 0;
	e->gone[scope] = true;
	e->retired++;
	return 0;
}

/* Numbers are given to others when nobody knows them any more. */
static int retire_settled(struct scope_gc *e, const struct scope_gc_context *c)
{
	uint32_t n = 0, unused = 0, held = 0;
	int err = 0;

	check_pages(e, c);
	memset(e->gone, 0, e->n * sizeof(*e->gone));
	for (uint32_t i = QZ_OWN_SCOPES; !err && i < e->n; i++) {
		if (!is_settled(e, c, i)) {
			unused += bpf_scopes__is_free(c->engine, i);
			held += e->since[i] != 0;
			continue;
		}
		err = retire(e, c, i);
		n += !err;
	}
	e->is_short = held > unused + n;
	if (!n)
		return err;
	wait_drain__forget(c->waits, e->gone);
	address_spaces__forget(c->images, e->gone);
	for (uint32_t i = QZ_OWN_SCOPES; i < e->n; i++)
		if (e->gone[i])
			err = bpf_scopes__recycle(c->engine, i) ?: err;
	return err;
}

/* ---- memory ---- */

struct candidate {
	uint32_t scope, objects;
	uint64_t cpu_ns, bytes;
};

/* What those that have ended take. */
struct taken {
	uint64_t bytes;
	uint32_t objects;
};

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? -1 : 1;
	return (x->scope > y->scope) - (x->scope < y->scope);
}

/* The scope that stands for the others, with its row of threads; made when it is not there. */
static int find_other(const struct scope_gc_context *c, uint32_t *scope, uint32_t *row)
{
	struct qz_scope other = {
		.kind = QZ_SCOPE_PROCESS,
		.comm = QZ_ENDED_NAME,
		.ended = true,
		.nlevels = bpf_runtime__level_stride(c->engine),
	};
	int64_t index = 0;

	*scope = QZ_NONE;
	for (uint32_t i = 0; i < c->profile->nscopes; i++)
		if (qz_scope__is_folded(&c->profile->scopes[i]))
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
static uint32_t find_candidates(const struct scope_gc_context *c, const uint64_t *bytes,
				const uint32_t *objects, struct candidate *all, struct taken *sum)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->profile->nscopes; i++) {
		const struct qz_scope *s = &c->profile->scopes[i];

		if (s->kind != QZ_SCOPE_PROCESS || s->vacant || qz_scope__is_folded(s) ||
		    scopes__has_number(c->scopes, i))
			continue;
		all[n++] = (struct candidate) {i, objects[i], s->cpu_ns, bytes[i]};
		sum->bytes += bytes[i];
		sum->objects += objects[i];
	}
	return n;
}

/*
 * Marks the least ones, until what stays takes three quarters of what is wanted; and where those that live find
 * few objects left, the least ones that have any, until they have few. Gives how many.
 */
static uint32_t mark(const struct scope_gc *e, const struct scope_gc_context *c, bool *marked)
{
	uint32_t nscopes = c->profile->nscopes, n = 0, done = 0;
	uint64_t *bytes = calloc(nscopes + 1ul, sizeof(*bytes));
	uint32_t *objects = calloc(nscopes + 1ul, sizeof(*objects));
	struct candidate *all = calloc(nscopes + 1ul, sizeof(*all));
	struct taken sum = {0};
	bool full, crowded;

	if (bytes && objects && all) {
		qz_merge__sizes(c->profile, bytes);
		for (uint32_t i = 0; i < c->profile->nobjects; i++)
			objects[c->profile->objects[i].scope]++;
		n = find_candidates(c, bytes, objects, all, &sum);
	}
	full = sum.bytes > e->bytes;
	crowded = c->profile->nobjects - c->profile->vacant_objects > MAX_OBJECTS / 4 * 3 &&
		  sum.objects > MAX_OBJECTS / 4;
	if (full || crowded)
		qsort(all, n, sizeof(*all), compare);
	for (uint32_t i = 0; i < n && (full || crowded); i++) {
		if (!full && !all[i].objects)
			continue;
		marked[all[i].scope] = true;
		done++;
		sum.bytes -= all[i].bytes;
		sum.objects -= all[i].objects;
		full = full && sum.bytes > e->bytes / 4 * 3;
		crowded = crowded && sum.objects > MAX_OBJECTS / 8;
	}
	free(bytes);
	free(objects);
	free(all);
	return done;
}

static int fold(struct scope_gc *e, const struct scope_gc_context *c)
{
	bool *marked = calloc(c->profile->nscopes + 1ul, sizeof(*marked));
	uint32_t n = marked ? mark(e, c, marked) : 0, other = QZ_NONE, row = QZ_NONE;
	int err = marked ? 0 : -ENOMEM;

	if (n) {
		if (c->before)
			c->before(c->context);
		if (c->polling)
			shm_polling__begin(c->polling);
		err = find_other(c, &other, &row);
		err = err ?: qz_fold__scopes(c->profile, marked, other, row);
		if (!err) {
			e->folded += n;
			threads__forget_vacant(c->threads);
		}
		if (!err && c->after)
			c->after(c->context);
		malloc_trim(0); /* what was freed lies between what stays */
	}
	free(marked);
	return err;
}

int scope_gc__settle(struct scope_gc *e, const struct scope_gc_context *c)
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
