// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/shm/shm_calls.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/attribution/shm_reader.h"

/* Drains after the end of a process until no buffer of the sampler knows of it. */
#define LAST_DRAINS 3

/* The process's own ledger. */
struct lack {
	uint64_t overflows, slots, symbols, tasks, calls;
	uint64_t cost_ns;	    /* spent in libquartz, by its own calibration */
	uint64_t scope_ps, hook_ps; /* most that a call costs, by that */
};

struct shm_counters {
	struct shm_sets *sets;
	struct bpf_runtime *bpf;
	struct stack_context context;
	struct shm_calls *calls;
	struct lack closed; /* of page sets that are no more */
};

struct shm_counters *shm_counters__new(struct shm_sets *sets, struct bpf_runtime *bpf,
				       const struct stack_context *context)
{
	struct shm_counters *counters = calloc(1, sizeof(*counters));

	if (!counters)
		return NULL;
	counters->sets = sets;
	counters->bpf = bpf;
	counters->context = *context;
	counters->calls = shm_calls__new(sets, context);
	if (counters->calls)
		return counters;
	free(counters);
	return NULL;
}

void shm_counters__free(struct shm_counters *counters)
{
	if (counters)
		shm_calls__free(counters->calls);
	free(counters);
}

void shm_counters__refresh(struct shm_counters *counters)
{
	shm_calls__refresh(counters->calls);
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

static void add_lack(struct lack *sum, struct shm_sets *sets, struct page *page)
{
	struct qz_page_header header;
	uint32_t i;

	if (shm_tables__header(page->tables, &header))
		return;
	sum->slots += believable(header.slots_refused);
	sum->symbols += believable(header.symbols_refused) + believable(header.text_refused);
	sum->tasks += believable(header.tasks_refused);
	sum->calls += believable(header.calls_refused);
	raise_to(&sum->scope_ps, header.cost_scope_ps);
	raise_to(&sum->hook_ps, header.cost_hook_ps);
	for (i = shm_sets__next_slot(sets, page, 0, header.slots_used, true); i < header.slots_used;
	     i = shm_sets__next_slot(sets, page, i + 1, header.slots_used, true)) {
		sum->overflows += page->slots[i].overflows;
		sum->cost_ns += cost_of(&header, page->slots[i].pushes);
	}
}

void shm_counters__ledger(struct shm_counters *counters, struct qz_ledger *ledger)
{
	struct lack sum = counters->closed;

	for (uint32_t i = 0; i < shm_sets__limit(counters->sets); i++) {
		struct page *page = shm_sets__at(counters->sets, i);

		if (page)
			add_lack(&sum, counters->sets, page);
	}
	qz_ledger__add_event(ledger, "profile_stack_overflows", sum.overflows);
	qz_ledger__add_event(ledger, "profile_slots_refused", sum.slots);
	qz_ledger__add_event(ledger, "profile_symbols_refused", sum.symbols);
	qz_ledger__add_event(ledger, "profile_tasks_refused", sum.tasks);
	qz_ledger__add_event(ledger, "profile_calls_refused",
			     sum.calls + shm_calls__refused(counters->calls));
	qz_ledger__add_event(ledger, "libquartz_ns",
			     sum.cost_ns < MOST_COST_NS ? sum.cost_ns : MOST_COST_NS);
	qz_ledger__add_event(ledger, "libquartz_scope_ps", sum.scope_ps);
	qz_ledger__add_event(ledger, "libquartz_hook_ps", sum.hook_ps);
	qz_ledger__add_event(ledger, "pages_refused", shm_sets__refused(counters->sets));
}

/* ---- the end of a page set ---- */

static bool close_page(void *context, struct page *page)
{
	struct shm_counters *counters = context;
	const struct page *last;

	if (++page->closing < LAST_DRAINS)
		return false;
	add_lack(&counters->closed, counters->sets, page);
	shm_calls__close(counters->calls, page);
	last = shm_sets__of_image(counters->sets, page->image);
	if (!last || last->over)
		bpf_runtime__set_page(counters->bpf, page->image, NULL);
	return true;
}

/* A process that executed another program is another image. */
static void end_replaced(struct shm_counters *counters)
{
	for (uint32_t i = 0; i < shm_sets__limit(counters->sets); i++) {
		struct page *page = shm_sets__at(counters->sets, i);
		const struct image *image =
			page ? address_spaces__get(counters->context.spaces, page->image) : NULL;

		if (image && image->ended)
			shm_sets__end(page);
	}
}

void shm_counters__drained(struct shm_counters *counters)
{
	shm_sets__reap(counters->sets);
	end_replaced(counters);
	shm_sets__collect(counters->sets, close_page, counters);
}

/* ---- threads ---- */

bool shm_counters__thread_name(struct shm_counters *counters, const struct thread *thread,
			       uint32_t image, char name[QZ_THREAD_NAME_LENGTH])
{
	struct page *page = thread->page ? shm_sets__at(counters->sets, thread->page - 1) : NULL;
	const struct qz_slot *slot;

	if (!page || page->image != image || !thread->slot)
		return false;
	slot = shm_sets__slot(counters->sets, page, thread->slot - 1);
	if (!slot)
		return false;
	shm_slot__name(slot, name);
	return __atomic_load_n(&slot->claims, __ATOMIC_ACQUIRE) == thread->claims;
}
