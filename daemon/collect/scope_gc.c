// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/scope_gc.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fold.h"
#include "core/transform/merge.h"
#include "core/util/order.h"
#include "daemon/attribution/shm_sets.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/collector_state.h"
#include "daemon/collect/scopes.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/target/address_spaces.h"
#include "daemon/waits/objects.h"
#include "daemon/waits/wait_drain.h"

/*
 * Drains after a scope was seen to have ended until all its samples and reports are part of the profile: both buffers have
 * been drained since.
 */
#define SETTLED_DRAINS 3
/* After so many more processes, the memory that they take is checked. */
#define LOOK_AFTER 64

struct scope_gc {
	uint64_t bytes;
	uint32_t n;	 /* scopes in BPF */
	uint32_t *since; /* of each, the drain at which it was seen to have ended; 0: it has not */
	bool *gone, *in_use; /* of each, in one call of scope_gc__settle() */
	uint32_t drains;
	uint32_t retired; /* since memory was last checked */
	uint64_t folded;
	bool is_short;
};

struct scope_gc *scope_gc__new(const struct bpf_runtime *bpf, uint64_t bytes)
{
	struct scope_gc *gc = calloc(1, sizeof(*gc));

	if (!gc)
		return NULL;
	gc->bytes = bytes;
	gc->n = bpf_runtime__max_scopes(bpf);
	gc->since = calloc(gc->n, sizeof(*gc->since));
	gc->gone = calloc(gc->n, sizeof(*gc->gone));
	gc->in_use = calloc(gc->n, sizeof(*gc->in_use));
	if (gc->since && gc->gone && gc->in_use)
		return gc;
	scope_gc__free(gc);
	errno = ENOMEM;
	return NULL;
}

void scope_gc__free(struct scope_gc *gc)
{
	if (!gc)
		return;
	free(gc->since);
	free(gc->gone);
	free(gc->in_use);
	free(gc);
}

uint64_t scope_gc__folded(const struct scope_gc *gc)
{
	return gc->folded;
}

bool scope_gc__is_short(const struct scope_gc *gc)
{
	return gc->is_short;
}

/* ---- numbers in BPF ---- */

/* What a program reported about itself is added when its pages are given back. */
static void check_pages(struct scope_gc *gc, const struct collector *c)
{
	memset(gc->in_use, 0, gc->n * sizeof(*gc->in_use));
	for (uint32_t i = 0; c->sets && i < shm_sets__limit(c->sets); i++) {
		const struct page *page = shm_sets__at(c->sets, i);
		const struct image *image = page ? address_spaces__get(c->spaces, page->image)
						 : NULL;

		if (image && image->scope < gc->n)
			gc->in_use[image->scope] = true;
	}
}

static bool is_settled(struct scope_gc *gc, const struct collector *c, uint32_t scope)
{
	if (!bpf_scopes__ended(c->bpf, scope)) {
		gc->since[scope] = 0;
		return false;
	}
	if (!gc->since[scope])
		gc->since[scope] = gc->drains;
	return gc->drains - gc->since[scope] >= SETTLED_DRAINS && !gc->in_use[scope] &&
	       !wait_drain__use_scope(c->waits, scope);
}

/* Nothing was heard of one whose reports were lost, but what BPF counted. */
static int retire(struct scope_gc *gc, const struct collector *c, uint32_t scope)
{
	if (scopes__index(c->scopes, scope) == QZ_NONE &&
	    bpf_scopes__youth(c->bpf, scope) != QZ_FOLDED) {
		int64_t index = scopes__add(c->scopes, scope, QZ_SCOPE_PROCESS,
					    bpf_scopes__pid(c->bpf, scope), "", "");

		if (index < 0)
			return (int)index;
	}
	scopes__retire(c->scopes, scope, c->waits);
	gc->since[scope] = 0;
	gc->gone[scope] = true;
	gc->retired++;
	return 0;
}

/* Whether more scopes that have ended hold their numbers than there are free ones, with the n that are given back now. */
static bool is_short(const struct scope_gc *gc, const struct collector *c, uint32_t n,
		     uint32_t held)
{
	for (uint32_t i = QZ_OWN_SCOPES; i < gc->n && n < held; i++)
		n += bpf_scopes__is_free(c->bpf, i);
	return n < held;
}

static int give_back(const struct collector *c, uint32_t scope)
{
	live__drop_scope(c->live, scope);
	return bpf_scopes__recycle(c->bpf, scope);
}

/* A number is given to another scope when nothing refers to it any more. */
static int retire_settled(struct scope_gc *gc, const struct collector *c)
{
	uint32_t n = 0, held = 0, i = QZ_OWN_SCOPES;
	int err = 0;

	check_pages(gc, c);
	memset(gc->gone, 0, gc->n * sizeof(*gc->gone));
	while (!err && (i = bpf_scopes__next_ended(c->bpf, i)) < gc->n) {
		if (is_settled(gc, c, i)) {
			err = retire(gc, c, i);
			n += !err;
		} else {
			held += gc->since[i] != 0;
		}
		i++;
	}
	gc->is_short = is_short(gc, c, n, held);
	if (!n)
		return err;
	wait_drain__forget(c->waits, gc->gone);
	address_spaces__forget(c->spaces, gc->gone);
	for (i = QZ_OWN_SCOPES; i < gc->n; i++)
		if (gc->gone[i])
			err = give_back(c, i) ?: err;
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

	return qz_order(x->cpu_ns, y->cpu_ns) ?: qz_order(x->scope, y->scope);
}

/* The scope that stands for the others, with its row of threads; made when it is not there. */
static int find_other(const struct collector *c, uint32_t *scope, uint32_t *row)
{
	struct qz_scope other = {
		.kind = QZ_SCOPE_PROCESS,
		.comm = QZ_ENDED_NAME,
		.ended = true,
		.nlevels = 2,
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
static uint32_t find_candidates(const struct collector *c, const uint64_t *bytes,
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
 * few objects left, the least ones that have any, until they have few. Returns how many.
 */
static uint32_t mark(const struct scope_gc *gc, const struct collector *c, bool *marked)
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
	full = sum.bytes > gc->bytes;
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
		full = full && sum.bytes > gc->bytes / 4 * 3;
		crowded = crowded && sum.objects > MAX_OBJECTS / 8;
	}
	free(bytes);
	free(objects);
	free(all);
	return done;
}

static int fold(struct scope_gc *gc, const struct collector *c)
{
	uint32_t nscopes = c->profile->nscopes; /* a refresh before the fold adds some */
	bool *marked = calloc(nscopes + 1ul, sizeof(*marked));
	uint32_t n = marked ? mark(gc, c, marked) : 0, other = QZ_NONE, row = QZ_NONE;
	int err = marked ? 0 : -ENOMEM;

	if (n) {
		if (c->before_fold)
			c->before_fold(c->fold_context);
		if (c->polling)
			shm_polling__begin(c->polling);
		err = find_other(c, &other, &row);
		err = err ?: qz_fold__scopes(c->profile, marked, nscopes, other, row);
		if (!err) {
			gc->folded += n;
			threads__forget_vacant(c->threads);
		}
		if (!err && c->after_fold)
			c->after_fold(c->fold_context);
		malloc_trim(0); /* what was freed lies between what stays */
	}
	free(marked);
	return err;
}

int scope_gc__settle(struct collector *c)
{
	struct scope_gc *gc = c->gc;
	int err;

	gc->drains++;
	threads__forget(c->threads);
	err = retire_settled(gc, c);
	if (err || gc->retired < LOOK_AFTER)
		return err;
	gc->retired = 0;
	return fold(gc, c);
}
