// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/shm/poll_join.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/attribution/instrumented_stacks.h"

struct shm_polling {
	struct shm_sampler *poller;
	struct threads *threads;
	struct stack_context context;
	struct poll_join *join;
	uint64_t unplaced; /* samples of threads that the profile does not know yet */
};

struct shm_polling *shm_polling__new(struct shm_sampler *poller, struct threads *threads,
				     const struct stack_context *context)
{
	struct shm_polling *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->poller = poller;
	p->threads = threads;
	p->context = *context;
	p->join = poll_join__new(context->profile);
	if (p->join)
		return p;
	free(p);
	return NULL;
}

void shm_polling__free(struct shm_polling *p)
{
	if (p)
		poll_join__free(p->join);
	free(p);
}

void shm_polling__swap_buffers(struct shm_polling *p)
{
	shm_sampler__clear(p->poller);
	shm_sampler__swap_buffers(p->poller);
}

static void want(void *context, const struct poll_sample *sample, const uint32_t *ids)
{
	struct shm_polling *p = context;

	instrumented_stacks__want_polled(p->context.instrumented, sample->key.image,
					 sample->key.task, ids, sample->n);
}

void shm_polling__want(struct shm_polling *p)
{
	shm_sampler__each(p->poller, want, p);
}

void shm_polling__begin(struct shm_polling *p)
{
	poll_join__restore(p->join);
}

void shm_polling__leaf(struct shm_polling *p, struct thread *thread, uint32_t below, uint32_t leaf,
		       const struct stack *stack)
{
	const struct qz_profile *profile = p->context.profile;
	uint32_t node = leaf;

	if (!stack->nprofile) {
		poll_join__leaf(p->join, leaf, below);
		return;
	}
	if (stack->outermost != QZ_NONE)
		thread->outermost = stack->outermost;
	for (uint32_t i = stack->nprofile; i < stack->n; i++)
		node = profile->nodes[node].parent;
	poll_join__leaf(p->join, leaf, node);
}

/* The end of the profile stack, or where the thread's stacks begin when it has entered nothing. */
static int64_t node_of(struct shm_polling *p, const struct thread *thread,
		       const struct poll_sample *sample, const uint32_t *ids)
{
	const struct image *image = address_spaces__get(p->context.spaces, sample->key.image);
	struct stack stack;
	uint32_t below;

	if (!image)
		return -1;
	below = thread__node((struct thread *)thread, image);
	if (!instrumented_stacks__place_polled(p->context.instrumented, sample->key.image,
					       sample->key.task, ids, sample->n, thread->outermost,
					       &stack))
		return below;
	return stack__node(p->context.profile, below, &stack);
}

static void add(void *context, const struct poll_sample *sample, const uint32_t *ids)
{
	struct shm_polling *p = context;
	struct thread *thread = threads__get(p->threads, sample->key.serial);
	uint32_t row = thread ? thread->row : QZ_NONE, most;
	int64_t node = row == QZ_NONE ? -1 : node_of(p, thread, sample, ids);
	struct qz_sample s = {.thread = row, .object = QZ_NONE, .count = sample->count};
	struct qz_scope *scope;

	if (node < 0) {
		p->unplaced += sample->count;
		return;
	}
	s.scope = p->context.profile->threads[row].scope;
	s.node = node;
	most = p->context.profile->processors;
	s.level = sample->key.level < most ? sample->key.level : most;
	s.spinning = sample->key.spinning;
	s.busy = sample->key.busy < s.level ? sample->key.busy : s.level;
	if (s.spinning && s.busy == s.level)
		s.busy--;
	scope = &p->context.profile->scopes[s.scope];
	if (qz_levels__reach(&scope->level_ns, &scope->nlevels, s.level) ||
	    poll_join__add(p->join, &s))
		p->unplaced += sample->count;
}

void shm_polling__drain(struct shm_polling *p)
{
	shm_sampler__each(p->poller, add, p);
	shm_sampler__clear(p->poller);
}

int shm_polling__join(struct shm_polling *p)
{
	return poll_join__apply(p->join);
}

void shm_polling__ledger(const struct shm_polling *p, struct qz_ledger *ledger)
{
	struct shm_sampler_figures f;

	shm_sampler__figures(p->poller, &f);
	qz_ledger__add_event(ledger, "page_rounds", f.rounds);
	qz_ledger__add_event(ledger, "page_samples", f.samples);
	qz_ledger__add_event(ledger, "page_samples_lost", f.lost + p->unplaced);
	qz_ledger__add_event(ledger, "page_slots_invalid", f.invalid);
	qz_ledger__add_event(ledger, "page_slots_torn", f.torn);
	qz_ledger__add_event(ledger, "page_rounds_late", f.late);
}
