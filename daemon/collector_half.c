// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "daemon/collector_state.h"

static const char *const end_names[] = QZ_UNWIND_END_NAMES;

/* What a scope tells of its samples. */
static void count_sample(struct qz_scope *s, const struct qz_stack_slot *slot,
			 const struct stack *stack, uint64_t n)
{
	qz_losses__add(&s->stack_ends, &s->nstack_ends,
		       slot->end < QZ_UNWIND_ENDS ? end_names[slot->end] : "?", n);
	s->samples += n;
	if (stack->truncated)
		s->truncated += n;
	if (stack->unresolved)
		s->unresolved += n;
}

/* The same samples at the machine's level. */
static void add_to_machine(struct collector *c, struct qz_sample group, uint32_t machine,
			   enum spin_sight sight, uint32_t loop, const struct qz_stack_slot *slot,
			   const struct stack *stack)
{
	group.scope = scopes__machine(c->scopes);
	group.level = QZ_SAMPLE_MACHINE_LEVEL(machine);
	group.busy = QZ_SAMPLE_MACHINE_BUSY(machine);
	if (!undecided__add_again(c->undecided, &group, sight, loop))
		count_sample(&c->profile->scopes[group.scope], slot, stack, group.count);
}

static void add_sample(struct collector *c, const struct qz_stack_slot *slot,
		       const struct stack *stack, const struct qz_sample_slot *sample,
		       enum spin_sight sight, uint32_t loop)
{
	struct thread *thread = threads__get(c->threads, QZ_SAMPLE_SERIAL(sample->key));
	const struct image *image = images__get(c->images, slot->image);
	uint32_t scope = image ? scopes__index(c->scopes, image->scope) : QZ_NONE, row;
	struct qz_sample group;
	int64_t node;

	if (!thread || scope == QZ_NONE)
		return;
	row = threads__row(c->threads, thread, scope, image->pid);
	node = stack__node(c->profile, thread__node(thread, image), stack);
	if (node < 0)
		return;
	group = (struct qz_sample) {
		.scope = scope,
		.thread = row,
		.node = node,
		.level = QZ_SAMPLE_LEVEL(sample->key),
		.busy = QZ_SAMPLE_BUSY(sample->more),
		.spinning = QZ_SAMPLE_SPINNING(sample->more),
		.object = waits__object(c->waits, QZ_SAMPLE_OBJECT(sample->more),
					QZ_SAMPLE_SPINNING(sample->more) ? node : 0),
		.halvings = (uint8_t)c->halvings_drained,
		.count = sample->count,
	};
	if (undecided__add(c->undecided, &group, sight, loop))
		return;
	count_sample(&c->profile->scopes[scope], slot, stack, sample->count);
	if (sample->machine && scopes__machine(c->scopes) != QZ_NONE)
		add_to_machine(c, group, sample->machine, sight, loop, slot, stack);
	if (c->polling && slot->profiled)
		polling__leaf(c->polling, thread, thread__node(thread, image), node, stack);
}

/* Samples come sorted by stack here, so that each stack is placed once. */
static int compare_samples(const void *a, const void *b)
{
	const struct qz_sample_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_stale(const struct qz_stack_slot *slot)
{
	return slot->end == QZ_UNWIND_STALE;
}

/* Names the stacks whose walk has found stale tables, or the others. */
static int name_stacks(struct collector *c, bool stale)
{
	struct engine_half *h = &c->half;

	for (uint32_t i = 0; i < h->nstacks; i++) {
		if (!stack_slot__used(h, &h->stacks[i]) || is_stale(&h->stacks[i]) != stale)
			continue;
		stack__want(&c->stacks, h, &h->stacks[i]);
		spinning__want(c->spinning, h, &h->stacks[i]);
	}
	return places__resolve(c->places) ?: spinning__judge(c->spinning);
}

static bool has_new_object(const struct collector *c, const struct qz_sample_slot *sample)
{
	uint32_t object = QZ_SAMPLE_OBJECT(sample->more);

	return object && !waits__has_object(c->waits, object);
}

/*
 * First the samples that can be placed at once; the others, whose stacks are stale or whose objects
 * have no names yet, at the second call.
 */
static void drain_samples(struct collector *c, bool stale)
{
	struct engine_half *h = &c->half;
	uint32_t last = UINT32_MAX;
	struct stack stack;
	enum spin_sight sight = SPIN_WORKS;
	uint32_t loop = QZ_NONE;

	for (uint32_t i = 0; i < h->nsamples; i++) {
		struct qz_sample_slot *sample = &h->samples[i];
		uint32_t at = QZ_SAMPLE_STACK(sample->key);
		const struct qz_stack_slot *slot;

		if (!sample->key || !sample->count || at >= h->nstacks)
			continue;
		if (!stale && (is_stale(&h->stacks[at]) || has_new_object(c, sample)))
			continue;
		slot = &h->stacks[at];
		if (!stack_slot__used(h, slot)) {
			c->not_stored += sample->count;
			sample->count = 0;
			continue;
		}
		if (at != last) {
			stack__place(&c->stacks, h, slot, &stack);
			sight = spinning__sight(c->spinning, h, slot, &loop);
		}
		last = at;
		add_sample(c, slot, &stack, sample, sight, loop);
		sample->count = 0; /* done */
	}
	if (c->polling)
		polling__begin(c->polling);
}

/* What had to be read anew may be missing where the tables are made, too. */
static void tell_missed(struct collector *c)
{
	for (uint32_t i = 0; i < images__count(c->images); i++) {
		const struct image *image = images__at(c->images, i);

		if (image->reread && !image->ended)
			builder__complete(c->builder, image->number);
	}
}

static int settle_ended(struct collector *c)
{
	struct ended_context context = {
		.engine = c->engine,
		.profile = c->profile,
		.scopes = c->scopes,
		.threads = c->threads,
		.images = c->images,
		.waits = c->waits,
		.undecided = c->undecided,
		.page_figures = c->page_figures,
		.pages = c->pages,
		.polling = c->polling,
		.moments = c->moments,
		.before = c->before_fold,
		.after = c->after_fold,
		.context = c->fold_context,
	};

	/* while code is named before it is replaced, later reports have not been processed yet */
	if (!c->ended || c->frozen || c->turned >= c->processed)
		return 0;
	return ended__settle(c->ended, &context);
}

int collector__drain_half(struct collector *c)
{
	struct engine_half *h = &c->half;
	int err;

	undecided__begin_half(c->undecided);
	images__refresh(c->images);
	qsort(h->samples, h->nsamples, sizeof(*h->samples), compare_samples);
	err = name_stacks(c, false);
	if (!err)
		drain_samples(c, false);
	/* From here on by what is mapped now, where stacks with stale tables have it read. */
	waits__want(c->waits);
	if (c->polling)
		polling__want(c->polling);
	err = err ?: name_stacks(c, true);
	if (!err) {
		waits__drain(c->waits); /* names the objects that samples carry */
		drain_samples(c, true);
	}
	err = undecided__end_half(c->undecided) ?: err;
	if (!err && c->polling)
		polling__drain(c->polling);
	engine__clear(c->engine, h);
	reloads__end(c->stacks.reloads);
	tell_missed(c);
	if (c->page_figures)
		page_figures__drained(c->page_figures);
	c->half_waits = false;
	symbolizer__rest(c->symbolizer);
	return err ?: settle_ended(c);
}
