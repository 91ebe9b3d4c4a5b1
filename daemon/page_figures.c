// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/page_calls.h"
#include "daemon/page_figures.h"
#include "daemon/page_reader.h"

/* Drains after the end of a process until no half of the sampler's tables knows of it. */
#define LAST_DRAINS 3

/* The process's own ledger. */
struct lack {
	uint64_t overflows, slots, symbols, tasks, calls;
	uint64_t cost_ns;	    /* spent in libquartz, by its own calibration */
	uint64_t scope_ps, hook_ps; /* most that a call costs, by that */
};

struct page_figures {
	struct pages *pages;
	struct engine *engine;
	struct stack_context context;
	struct page_calls *calls;
	struct lack closed; /* of page sets that are no more */
};

struct page_figures *page_figures__new(struct pages *pages, struct engine *engine,
				       const struct stack_context *context)
{
	struct page_figures *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pages = pages;
	f->engine = engine;
	f->context = *context;
	f->calls = page_calls__new(pages, context, engine__max_scopes(engine));
	if (f->calls)
		return f;
	free(f);
	return NULL;
}

void page_figures__free(struct page_figures *f)
{
	if (f)
		page_calls__free(f->calls);
	free(f);
}

void page_figures__add_scope(struct page_figures *f, uint32_t scope, uint32_t index)
{
	page_calls__add_scope(f->calls, scope, index);
}

int page_figures__folded(struct page_figures *f, const struct qz_maps *maps)
{
	return page_calls__folded(f->calls, maps);
}

void page_figures__refresh(struct page_figures *f)
{
	page_calls__refresh(f->calls);
}

/* ---- what found no room ---- */

/* All that it can have spent is what a thread can have run: more is no figure. */
#define MOST_COST_NS (1ull << 53)
#define MOST_REFUSED (1ull << 40)

static uint64_t cost_of(const struct qz_page_header *header, uint64_t pushes)
{
	uint32_t each = header->flags & QZ_PAGE_INSTRUMENTED ? header->cost_hook_ps
							     : header->cost_scope_ps;
	unsigned __int128 cost = (unsigned __int128)pushes * each / 1000;

	return cost > MOST_COST_NS ? 0 : (uint64_t)cost;
}

/* The process's own word: a sum of such must stay a number that can be told. */
static uint64_t believable(uint64_t n)
{
	return n < MOST_REFUSED ? n : MOST_REFUSED;
}

static void raise_to(uint64_t *most, uint64_t value)
{
	if (*most < value)
		*most = value;
}

static void add_lack(struct lack *sum, struct pages *pages, struct page *page)
{
	struct qz_page_header header;
	uint32_t readable;

	if (page_tables__header(page->tables, &header))
		return;
	sum->slots += believable(header.slots_refused);
	sum->symbols += believable(header.symbols_refused) + believable(header.text_refused);
	sum->tasks += believable(header.tasks_refused);
	sum->calls += believable(header.calls_refused);
	raise_to(&sum->scope_ps, header.cost_scope_ps);
	raise_to(&sum->hook_ps, header.cost_hook_ps);
	readable = pages__slots(pages, page, header.slots_used);
	for (uint32_t i = 0; i < header.slots_used && i < readable; i++) {
		sum->overflows += page->slots[i].overflows;
		sum->cost_ns += cost_of(&header, page->slots[i].pushes);
	}
}

void page_figures__ledger(struct page_figures *f, struct qz_ledger *ledger)
{
	struct lack sum = f->closed;

	for (uint32_t i = 0; i < pages__limit(f->pages); i++) {
		struct page *page = pages__at(f->pages, i);

		if (page)
			add_lack(&sum, f->pages, page);
	}
	qz_ledger__add_event(ledger, "profile_stack_overflows", sum.overflows);
	qz_ledger__add_event(ledger, "profile_slots_refused", sum.slots);
	qz_ledger__add_event(ledger, "profile_symbols_refused", sum.symbols);
	qz_ledger__add_event(ledger, "profile_tasks_refused", sum.tasks);
	qz_ledger__add_event(ledger, "profile_calls_refused",
			     sum.calls + page_calls__refused(f->calls));
	qz_ledger__add_event(ledger, "libquartz_ns",
			     sum.cost_ns < MOST_COST_NS ? sum.cost_ns : MOST_COST_NS);
	qz_ledger__add_event(ledger, "libquartz_scope_ps", sum.scope_ps);
	qz_ledger__add_event(ledger, "libquartz_hook_ps", sum.hook_ps);
	qz_ledger__add_event(ledger, "pages_refused", pages__refused(f->pages));
}

/* ---- the end of a page set ---- */

static bool close_page(void *context, struct page *page)
{
	struct page_figures *f = context;
	const struct page *last;

	if (++page->closing < LAST_DRAINS)
		return false;
	add_lack(&f->closed, f->pages, page);
	page_calls__close(f->calls, page);
	last = pages__of_image(f->pages, page->image);
	if (!last || last->over)
		engine__set_page(f->engine, page->image, NULL);
	return true;
}

/* A process that executed another program is another image. */
static void end_replaced(struct page_figures *f)
{
	for (uint32_t i = 0; i < pages__limit(f->pages); i++) {
		struct page *page = pages__at(f->pages, i);
		const struct image *image = page ? images__get(f->context.images, page->image)
						 : NULL;

		if (image && image->ended)
			pages__end(page);
	}
}

void page_figures__drained(struct page_figures *f)
{
	pages__reap(f->pages);
	end_replaced(f);
	pages__collect(f->pages, close_page, f);
}

/* ---- threads ---- */

bool page_figures__thread_name(struct page_figures *f, const struct qz_thread_event *thread,
			       char name[QZ_THREAD_NAME_LENGTH])
{
	struct page *page = thread->page ? pages__at(f->pages, thread->page - 1) : NULL;
	const struct qz_slot *slot;

	if (!page || page->image != thread->image || !thread->slot ||
	    thread->slot > pages__slots(f->pages, page, thread->slot))
		return false;
	slot = &page->slots[thread->slot - 1];
	page_slot__name(slot, name);
	return __atomic_load_n(&slot->claims, __ATOMIC_ACQUIRE) == thread->claims;
}
