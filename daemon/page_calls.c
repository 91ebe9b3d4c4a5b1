// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "daemon/page_calls.h"
#include "daemon/page_reader.h"
#include "daemon/places.h"
#include "daemon/selfreport.h"

/*
 * What one page set may take up: entries that are looked at, pairs that it brings into the profile,
 * and calls. No program makes more calls in a week; a sum of all stays far below 2^63.
 */
#define MAX_ENTRIES (1u << 20)
#define MAX_PAIRS   (QZ_MAX_CALLS / 4)
#define MAX_CALLS   (1ull << 50)
#define MAX_SUM	    (1ull << 62)
#define MAX_COST_NS (1ull << 48)

/* Of page sets that are no more. */
struct closed_call {
	uint64_t count, cost_ns;
};

struct page_calls {
	struct pages *pages;
	struct stack_context context;
	uint32_t *scopes; /* of the profile, by that of the engine; QZ_NONE: unknown */
	uint32_t nscopes;
	struct closed_call *closed; /* by index of profile->calls */
	uint32_t nclosed;
	uint64_t sum, closed_sum, closed_cost;
	uint64_t refused, closed_refused;
};

struct page_calls *page_calls__new(struct pages *pages, const struct stack_context *context,
				   uint32_t max_scopes)
{
	struct page_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->pages = pages;
	c->context = *context;
	c->nscopes = max_scopes;
	c->scopes = malloc(max_scopes * sizeof(*c->scopes));
	if (!c->scopes) {
		free(c);
		return NULL;
	}
	memset(c->scopes, 0xff, max_scopes * sizeof(*c->scopes));
	return c;
}

void page_calls__free(struct page_calls *c)
{
	if (!c)
		return;
	free(c->scopes);
	free(c->closed);
	free(c);
}

void page_calls__add_scope(struct page_calls *c, uint32_t scope, uint32_t index)
{
	c->scopes[scope] = index;
}

/* ---- reading ---- */

/* A page set that is being read. */
struct reading {
	struct page_calls *calls;
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

	selfreport__want(r->calls->context.selfreport, r->page->image, ids, caller ? 2 : 1);
	return ++r->entries < MAX_ENTRIES;
}

/* Where the profile has the pair, or QZ_NONE. */
static uint32_t find_pair(struct reading *r, const struct qz_call_count *key)
{
	struct qz_profile *p = r->calls->context.profile;
	uint32_t before = p->ncalls;
	int64_t index;

	if (r->page->pairs >= MAX_PAIRS)
		return qz_profile__find_call(p, key);
	index = qz_profile__intern_call(p, key);
	r->page->pairs += p->ncalls - before;
	return index < 0 ? QZ_NONE : (uint32_t)index;
}

/*
 * What the calls cost where no sample can tell: quartz_enter and quartz_leave are part of who uses
 * them. Hooks of the compiler are procedures, and seen. The process's own word, so no more of it than
 * there can be; and no more is taken out than was sampled.
 */
static uint64_t cost_of(struct reading *r, uint32_t callee, uint64_t count)
{
	unsigned __int128 ns = (unsigned __int128)count * r->cost_ps / 1000;

	if (selfreport__is_function(r->calls->context.selfreport, r->page->image, callee) ||
	    ns > MAX_COST_NS - r->cost_ns)
		return 0;
	r->cost_ns += (uint64_t)ns;
	return (uint64_t)ns;
}

static bool keep(struct page_calls *c, uint32_t index, const struct closed_call *call)
{
	while (c->nclosed <= index) {
		if (qz_array__reserve((void **)&c->closed, c->nclosed, sizeof(*c->closed)))
			return false;
		c->closed[c->nclosed++] = (struct closed_call) {0};
	}
	c->closed[index].count += call->count;
	if (call->cost_ns <= MAX_SUM - c->closed_cost) {
		c->closed[index].cost_ns += call->cost_ns;
		c->closed_cost += call->cost_ns;
	}
	c->closed_sum += call->count;
	return true;
}

static bool take(void *context, uint32_t caller, uint32_t callee, uint64_t count)
{
	struct reading *r = context;
	struct page_calls *c = r->calls;
	struct selfreport *s = c->context.selfreport;
	struct qz_call_count key = {.scope = r->scope, .caller = QZ_NONE};
	struct closed_call call = {.count = count};
	uint32_t index;

	key.callee = selfreport__procedure(s, r->page->image, callee);
	if (caller)
		key.caller = selfreport__procedure(s, r->page->image, caller);
	index = key.callee == QZ_NONE ? QZ_NONE : find_pair(r, &key);
	if (index == QZ_NONE || count > MAX_CALLS - r->sum ||
	    count > MAX_SUM - (r->closing ? c->closed_sum : c->sum)) {
		c->refused++;
		return go_on(r);
	}
	call.cost_ns = cost_of(r, callee, count);
	if (!r->closing) {
		c->context.profile->calls[index].count += count;
		c->context.profile->calls[index].cost_ns += call.cost_ns;
		c->sum += count;
		r->sum += count;
	} else if (keep(c, index, &call)) {
		r->sum += count;
	}
	return go_on(r);
}

/* First all names are asked for, which is done by another process, then the numbers are taken. */
static void read_page(struct page_calls *c, struct page *page, bool closing)
{
	const struct image *image = images__get(c->context.images, page->image);
	struct reading r = {.calls = c, .page = page, .closing = closing};
	struct qz_page_header header;

	if (!image || image->scope >= c->nscopes || c->scopes[image->scope] == QZ_NONE ||
	    page_tables__header(page->tables, &header))
		return;
	r.cost_ps = header.cost_scope_ps;
	r.scope = c->scopes[image->scope];
	page_tables__calls(page->tables, &header, want, &r);
	if (places__resolve(c->context.places))
		return;
	r.entries = 0;
	page_tables__calls(page->tables, &header, take, &r);
}

void page_calls__close(struct page_calls *c, struct page *page)
{
	c->refused = c->closed_refused;
	read_page(c, page, true);
	c->closed_refused = c->refused;
}

void page_calls__refresh(struct page_calls *c)
{
	struct qz_profile *p = c->context.profile;

	c->sum = c->closed_sum;
	c->refused = c->closed_refused;
	for (uint32_t i = 0; i < p->ncalls; i++) {
		p->calls[i].count = i < c->nclosed ? c->closed[i].count : 0;
		p->calls[i].cost_ns = i < c->nclosed ? c->closed[i].cost_ns : 0;
	}
	for (uint32_t i = 0; i < pages__limit(c->pages); i++) {
		struct page *page = pages__at(c->pages, i);

		if (page)
			read_page(c, page, false);
	}
}

uint64_t page_calls__refused(const struct page_calls *c)
{
	return c->refused;
}

int page_calls__folded(struct page_calls *c, const struct qz_maps *maps)
{
	struct closed_call *before = c->closed;
	uint32_t n = c->nclosed;
	int err = 0;

	c->closed = NULL;
	c->nclosed = 0;
	c->closed_sum = c->closed_cost = 0;
	for (uint32_t i = 0; i < n; i++)
		if (before[i].count && !keep(c, maps->calls[i], &before[i]))
			err = -ENOMEM;
	free(before);
	return err;
}
