// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/shm/shm_calls.h"
#include "daemon/attribution/shm_reader.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/instrumented_stacks.h"

/*
 * What one page set may take up: entries that are read, pairs that it brings into the profile,
 * and calls. No program makes more calls in a week; a sum of all stays far below 2^63.
 */
#define MAX_ENTRIES (1u << 20)
#define MAX_PAIRS   (QZ_MAX_CALLS / 4)
#define MAX_CALLS   (1ull << 50)
#define MAX_SUM	    (1ull << 62)
#define MAX_COST_NS (1ull << 48)

struct shm_calls {
	struct shm_sets *sets;
	struct stack_context context;
	uint64_t sum, closed_sum, closed_cost;
	uint64_t refused, closed_refused;
};

struct shm_calls *shm_calls__new(struct shm_sets *sets, const struct stack_context *context)
{
	struct shm_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sets = sets;
	c->context = *context;
	return c;
}

void shm_calls__free(struct shm_calls *c)
{
	free(c);
}

/* ---- reading ---- */

/* A page set that is being read. */
struct reading {
	struct shm_calls *calls;
	struct page *page;
	uint32_t scope;
	uint32_t entries;
	uint32_t cost_ps; /* of a procedure that is entered by hand */
	uint64_t sum, cost_ns;
	bool closing;
};

static bool go_on(struct reading *r)
{
	if (++r->entries < MAX_ENTRIES)
		return true;
	r->calls->refused++;
	return false;
}

static bool want(void *context, uint32_t caller, uint32_t callee, uint64_t count)
{
	struct reading *r = context;
	uint32_t ids[2] = {callee, caller};

	instrumented_stacks__want(r->calls->context.instrumented, r->page->image, ids,
				  caller ? 2 : 1);
	return ++r->entries < MAX_ENTRIES;
}

/* Where the profile has the pair, or QZ_NONE. */
static uint32_t find_pair(struct reading *r, const struct qz_call_count *key)
{
	struct qz_profile *p = r->calls->context.profile;
	uint32_t before = p->ncalls;
	int64_t index;

	if (r->page->pairs >= MAX_PAIRS)
		return qz_call_counts__find(p, key);
	index = qz_call_counts__intern(p, key);
	r->page->pairs += p->ncalls - before;
	return index < 0 ? QZ_NONE : (uint32_t)index;
}

/*
 * What the calls cost where no sample shows it: quartz_enter and quartz_leave are part of who uses
 * them. Hooks of the compiler are procedures, and seen. The process's own word, so no more of it than
 * there can be; and no more is taken out than was sampled.
 */
static uint64_t cost_of(struct reading *r, uint32_t callee, uint64_t count)
{
	unsigned __int128 ns = (unsigned __int128)count * r->cost_ps / 1000;

	if (instrumented_stacks__is_function(r->calls->context.instrumented, r->page->image,
					     callee) ||
	    ns > MAX_COST_NS - r->cost_ns)
		return 0;
	r->cost_ns += (uint64_t)ns;
	return (uint64_t)ns;
}

/* Of a page set that is no more after this. */
static void close_call(struct shm_calls *c, struct qz_call_count *call, uint64_t count,
		       uint64_t cost_ns)
{
	call->closed_count += count;
	c->closed_sum += count;
	if (cost_ns > MAX_SUM - c->closed_cost)
		return;
	call->closed_cost_ns += cost_ns;
	c->closed_cost += cost_ns;
}

static bool take(void *context, uint32_t caller, uint32_t callee, uint64_t count)
{
	struct reading *r = context;
	struct shm_calls *c = r->calls;
	struct instrumented_stacks *s = c->context.instrumented;
	struct qz_call_count key = {.scope = r->scope, .caller = QZ_NONE};
	struct qz_call_count *call;
	uint64_t cost_ns;
	uint32_t index;

	key.callee = instrumented_stacks__procedure(s, r->page->image, callee);
	if (caller)
		key.caller = instrumented_stacks__procedure(s, r->page->image, caller);
	index = key.callee == QZ_NONE ? QZ_NONE : find_pair(r, &key);
	if (index == QZ_NONE || count > MAX_CALLS - r->sum ||
	    count > MAX_SUM - (r->closing ? c->closed_sum : c->sum)) {
		c->refused++;
		return go_on(r);
	}
	call = &c->context.profile->calls[index];
	cost_ns = cost_of(r, callee, count);
	r->sum += count;
	if (r->closing) {
		close_call(c, call, count, cost_ns);
	} else {
		call->count += count;
		call->cost_ns += cost_ns;
		c->sum += count;
	}
	return go_on(r);
}

/* First all names are asked for, which is done by another process, then the numbers are taken. */
static void read_page(struct shm_calls *c, struct page *page, bool closing)
{
	const struct image *image = address_spaces__get(c->context.spaces, page->image);
	struct reading r = {.calls = c, .page = page, .closing = closing};
	struct qz_page_header header;

	if (!image || stack_context__scope(&c->context, image->scope) == QZ_NONE ||
	    shm_tables__header(page->tables, &header))
		return;
	r.cost_ps = header.cost_scope_ps;
	r.scope = c->context.scopes[image->scope];
	shm_tables__calls(page->tables, &header, want, &r);
	if (address_cache__resolve(c->context.addresses))
		return;
	r.entries = 0;
	shm_tables__calls(page->tables, &header, take, &r);
}

void shm_calls__close(struct shm_calls *c, struct page *page)
{
	c->refused = c->closed_refused;
	read_page(c, page, true);
	c->closed_refused = c->refused;
}

void shm_calls__refresh(struct shm_calls *c)
{
	struct qz_profile *p = c->context.profile;

	c->sum = c->closed_sum;
	c->refused = c->closed_refused;
	for (uint32_t i = 0; i < p->ncalls; i++) {
		p->calls[i].count = p->calls[i].closed_count;
		p->calls[i].cost_ns = p->calls[i].closed_cost_ns;
	}
	for (uint32_t i = 0; i < shm_sets__limit(c->sets); i++) {
		struct page *page = shm_sets__at(c->sets, i);

		if (page)
			read_page(c, page, false);
	}
}

uint64_t shm_calls__refused(const struct shm_calls *c)
{
	return c->refused;
}
