// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "core/model/profile_index.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/python_codes.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/round_sets.h"
#include "daemon/collect/scope_gc.h"
#include "daemon/collect/groups.h"
#include "daemon/collect/scopes.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/shm/shm_polling.h"
#include "daemon/collect/sample_rounds.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/spin/spin_tracker.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/waits/objects.h"
#include "daemon/waits/wait_drain.h"
#include "daemon/what_if/candidates.h"

static const char *const end_names[] = QZ_UNWIND_END_NAMES;

/* A stack of the buffer. */
struct placed {
	const struct qz_stack_slot *slot;
	struct stack stack;
};

/* What a scope knows about its samples. */
static void count_samples(struct qz_scope *s, const struct placed *at, uint64_t n)
{
	qz_losses__add(&s->stack_ends, &s->nstack_ends,
		       at->slot->end < QZ_UNWIND_ENDS ? end_names[at->slot->end] : "?", n);
	s->samples += n;
	if (at->stack.truncated)
		s->truncated += n;
	if (at->stack.unresolved)
		s->unresolved += n;
}

/* 0 or -errno. */
static int add_group(struct collector *c, struct qz_sample group, const struct placed *at)
{
	struct qz_scope *scope = &c->profile->scopes[group.scope];
	uint32_t most = bpf_runtime__processors(c->bpf);
	int err;

	if (group.level > most)
		group.level = most; /* a switch went unseen */
	most = group.level - group.spinning;
	if (group.busy > most)
		group.busy = most;
	/* its time is known at the next refresh */
	err = qz_levels__reach(&scope->level_ns, &scope->nlevels, group.level);
	err = err ?: qz_profile__add_samples(c->profile, &group);
	if (!err)
		count_samples(scope, at, group.count);
	return err;
}

/* The same samples at the machine's level. */
static void add_to_machine(struct collector *c, struct qz_sample group,
			   const struct joined_sample *sample, const struct placed *at)
{
	group.scope = scopes__machine(c->scopes);
	group.level = sample->machine;
	group.busy = sample->machine_busy;
	add_group(c, group, at);
}

/* A number that meanwhile is another's, in another scope, says nothing. */
static uint32_t object_of(struct collector *c, const struct joined_sample *sample, uint32_t scope)
{
	uint32_t object = objects__index(wait_drain__objects(c->waits), sample->object);

	return qz_profile__object_of(c->profile, object, scope) ? object : QZ_NONE;
}

/* Whose they are, and where. False: that is unknown, which is counted. */
static bool find_owner(struct collector *c, const struct image *image, const struct placed *at,
		       const struct joined_sample *sample, struct thread *thread,
		       struct qz_sample *group)
{
	uint32_t scope = image ? scopes__index(c->scopes, image->scope) : QZ_NONE;
	int64_t node;

	if (!thread || scope == QZ_NONE) {
		c->unplaced += sample->count;
		return false;
	}
	group->scope = scope;
	group->thread = threads__row(c->threads, thread, scope, image->pid);
	if (group->thread == QZ_NONE && thread->row != QZ_NONE) {
		c->misplaced += sample->count;
		return false;
	}
	node = stack__node(c->profile, thread__node(thread, image), &at->stack);
	if (node < 0) {
		c->unplaced += sample->count;
		return false;
	}
	group->node = (uint32_t)node;
	return true;
}

static void add_samples(struct collector *c, const struct placed *at,
			const struct joined_sample *sample)
{
	struct thread *thread = threads__get(c->threads, QZ_SAMPLE_SERIAL(sample->key));
	struct qz_sample group = {
		.level = QZ_SAMPLE_LEVEL(sample->key),
		.busy = sample->busy,
		.spinning = sample->spinning,
		.halvings = (uint8_t)c->halvings_drained,
		.count = sample->count,
		.in_block = sample->in_block,
	};

	const struct image *image = address_spaces__get(c->spaces, at->slot->image);
	int err;

	if (!find_owner(c, image, at, sample, thread, &group))
		return;
	group.object = object_of(c, sample, group.scope);
	if (group.object == QZ_NONE && !group.spinning && sample->line != LINE_NONE)
		group.object =
			line_samples__object(c->lines, sample->line, group.scope, group.node);
	err = add_group(c, group, at);
	if (err) {
		*(err == -EINVAL ? &c->misplaced : &c->unplaced) += sample->count;
		return;
	}
	if (sample->doubtful)
		bpf_scopes__add_spin_turns(c->bpf, image->scope, sample->doubtful);
	if (sample->machine && scopes__machine(c->scopes) != QZ_NONE)
		add_to_machine(c, group, sample, at);
	if (c->polling && at->slot->profiled)
		shm_polling__leaf(c->polling, thread, thread->node, group.node, &at->stack);
}

static int name_stacks(struct collector *c)
{
	struct bpf_runtime_buffer *buffer = &c->buffer;

	for (uint32_t i = 0; i < buffer->nstacks; i++) {
		if (!stack_slot__used(buffer, &buffer->stacks[i]))
			continue;
		stack__want(&c->stacks, buffer, &buffer->stacks[i]);
		spin_tracker__want_repeated(c->tracker, buffer, &buffer->stacks[i]);
	}
	return address_cache__resolve(c->addresses) ?: spin_tracker__resolve(c->tracker);
}

static bool has_new_object(const struct collector *c, const struct joined_sample *sample)
{
	return sample->object && !objects__has_name(wait_drain__objects(c->waits), sample->object);
}

/* The node of a thread that spins on an object. */
static uint32_t spinner_of(struct collector *c, const struct qz_stack_slot *slot,
			   const struct joined_sample *sample)
{
	const struct image *image = address_spaces__get(c->spaces, slot->image);
	struct thread *thread = threads__get(c->threads, QZ_SAMPLE_SERIAL(sample->key));
	struct stack stack;
	int64_t node;

	if (!sample->spinning || !thread)
		return 0;
	stack__place(&c->stacks, &c->buffer, slot, &stack);
	node = stack__node(c->profile, thread__node(thread, image), &stack);
	return node < 0 ? 0 : (uint32_t)node;
}

/* Objects that samples carry are named before these are added. */
static void want_objects(struct collector *c)
{
	struct bpf_runtime_buffer *buffer = &c->buffer;

	for (int64_t i = 0; i < c->njoined; i++) {
		const struct joined_sample *sample = &c->joined[i];
		uint32_t at = QZ_SAMPLE_STACK(sample->key);

		if (sample->count && at < buffer->nstacks && has_new_object(c, sample) &&
		    stack_slot__used(buffer, &buffer->stacks[at]))
			objects__want(wait_drain__objects(c->waits), sample->object,
				      spinner_of(c, &buffer->stacks[at], sample));
	}
}

/* First the samples that can be placed at once; the others, whose objects have no names yet, at the second call. */
static void drain_samples(struct collector *c, bool named)
{
	struct bpf_runtime_buffer *buffer = &c->buffer;
	uint32_t last = UINT32_MAX;
	struct placed placed = {0};

	if (c->polling)
		shm_polling__begin(c->polling); /* what is added to joined samples is lost */
	for (int64_t i = 0; i < c->njoined; i++) {
		struct joined_sample *sample = &c->joined[i];
		uint32_t at = QZ_SAMPLE_STACK(sample->key);
		const struct qz_stack_slot *slot;

		if (!sample->count || at >= buffer->nstacks)
			continue;
		if (!named && has_new_object(c, sample))
			continue;
		slot = &buffer->stacks[at];
		if (!stack_slot__used(buffer, slot)) {
			c->not_stored += sample->count;
			sample->count = 0;
			continue;
		}
		if (at != last) {
			placed.slot = slot;
			stack__place(&c->stacks, buffer, slot, &placed.stack);
		}
		last = at;
		add_samples(c, &placed, sample);
		sample->count = 0; /* done */
	}
}

static int join_rounds(struct collector *c)
{
	c->njoined = sample_rounds__take(c->sampled, &c->buffer, &c->schedule_drained, c->swapped,
					 &c->joined);
	if (c->njoined < 0)
		return (int)c->njoined;
	if (sample_rounds__are_off(c->sampled))
		perf_sampler__restart(c->sampler);
	return 0;
}

/* What ran together, where that is wanted and the module does not tell. */
static int add_sets(struct collector *c)
{
	uint32_t n;
	const struct round_answer *answers = sample_rounds__answers(c->sampled, &n);

	return c->profile->instants.sampled ? round_sets__add(&c->stacks, &c->buffer, answers, n)
					    : 0;
}

static int settle_ended(struct collector *c)
{
	if (!c->gc || c->frozen)
		return 0;
	return scope_gc__settle(c);
}

int collector__drain_buffer(struct collector *c)
{
	struct bpf_runtime_buffer *buffer = &c->buffer;
	uint64_t changes = address_spaces__changes(c->spaces);
	int err;

	/* All that was mapped while the samples were taken: see address_spaces__find(). */
	event_reader__read(c->reader);
	groups__decide(c->groups);
	address_spaces__refresh(c->spaces);
	spin_tracker__count(c->tracker, buffer);
	python_codes__read(c->python);
	err = name_stacks(c);
	err = err ?: join_rounds(c);
	if (!err)
		drain_samples(c, false);
	wait_drain__want(c->waits);
	if (c->polling)
		shm_polling__want(c->polling);
	err = err ?: address_cache__resolve(c->addresses);
	if (!err) {
		want_objects(c);
		python_codes__read(c->python); /* what waits meanwhile has met */
		wait_drain__add(c->waits);     /* names them */
		drain_samples(c, true);
		line_samples__settle(c->lines, c->halvings_drained);
		err = add_sets(c);
	}
	if (!err && c->polling)
		shm_polling__drain(c->polling);
	bpf_runtime__clear(c->bpf, buffer);
	address_spaces__refresh(c->spaces);
	if (address_spaces__changes(c->spaces) != changes)
		unwind_worker__wake(c->worker);
	if (c->candidates && !err && !c->frozen)
		err = candidates__learn(c->candidates);
	if (c->counters)
		shm_counters__drained(c->counters);
	c->buffer_waits = false;
	c->drained = true;
	symbolizer__rest(c->symbolizer);
	return err ?: c->buffer_ages ? settle_ended(c) : 0;
}
