// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "daemon/collect/round_sets.h"
#include "daemon/collect/rounds.h"

/* Instants that are named together. */
#define BATCH 64

struct rounds {
	struct module_rounds *module_rounds;
	struct spin_tracker *tracker;
	struct stack_context context;
	/* Of a batch: captures as stacks of the sampler's, and who answered what. */
	struct bpf_runtime_buffer buffer;
	struct round_answer *answers;
	uint32_t nanswers;
};

struct rounds *rounds__new(struct module_rounds *module_rounds, uint32_t rate, uint32_t processors,
			   struct spin_tracker *tracker, const struct stack_context *context)
{
	struct rounds *rounds = calloc(1, sizeof(*rounds));
	uint32_t n = BATCH * processors;

	if (!rounds)
		return NULL;
	rounds->module_rounds = module_rounds;
	rounds->tracker = tracker;
	rounds->context = *context;
	rounds->buffer.stacks = calloc(n, sizeof(*rounds->buffer.stacks));
	rounds->buffer.frames = calloc(n, sizeof(*rounds->buffer.frames));
	rounds->buffer.nframes = n;
	rounds->answers = calloc(n, sizeof(*rounds->answers));
	if (!rounds->buffer.stacks || !rounds->buffer.frames || !rounds->answers) {
		rounds__free(rounds);
		return NULL;
	}
	context->profile->instants.rate_hz = rate;
	return rounds;
}

void rounds__free(struct rounds *rounds)
{
	if (!rounds)
		return;
	free(rounds->buffer.stacks);
	free(rounds->buffer.frames);
	free(rounds->answers);
	free(rounds);
}

/* ---- stacks ---- */

/* What one capture tells of a stack; of no image if it is of some process that is not measured. */
static void add_stack(struct rounds *rounds, const struct qz_capture *c)
{
	struct image *image = address_spaces__of_process(rounds->context.spaces, c->tgid, c->time);
	struct qz_stack_slot *slot = &rounds->buffer.stacks[rounds->buffer.nstacks];
	uint32_t offset = rounds->buffer.nstacks++;

	*slot = (struct qz_stack_slot) {
		.hash = 1,
		.image = image ? image->number : 0,
		.offset = offset,
		.nuser = 1,
		.depth = 1,
		.end = QZ_UNWIND_OUTERMOST,
		.stored = QZ_STACK_STORED,
		.taken = c->time,
	};
	rounds->buffer.frames[offset] = c->user_ip;
	if (!image)
		return;
	stack__want(&rounds->context, &rounds->buffer, slot);
	spin_tracker__want(rounds->tracker, &rounds->buffer, slot);
}

/* Names the stacks of the first instants, up to a batch. */
static int add_stacks(struct rounds *rounds, const struct instant *instant)
{
	rounds->buffer.nstacks = 0;
	for (uint32_t n = 0; instant && n < BATCH; n++, instant = instant->next)
		for (uint32_t i = 0; i < instant->ncaptures; i++)
			add_stack(rounds, &instant->captures[i]);
	return address_cache__resolve(rounds->context.addresses)
		       ?: spin_tracker__resolve(rounds->tracker);
}

/* ---- answers ---- */

/* Only loops whose code alone says that they wait, spin. False: what ran there is not known. */
static bool answer(struct rounds *rounds, const struct instant *instant, uint32_t round,
		   uint32_t place, uint64_t time)
{
	const struct qz_stack_slot *slot = &rounds->buffer.stacks[place];
	const struct image *image = address_spaces__get(rounds->context.spaces, slot->image);

	if (!image)
		return instant->aim->every_processor; /* then it is some other process */
	rounds->answers[rounds->nanswers++] = (struct round_answer) {
		.round = round,
		.scope = image->scope,
		.place = place,
		.time = (uint32_t)(time >> QZ_ROUND_SHIFT),
		.spinning = spin_tracker__judge(rounds->tracker, &rounds->buffer, slot).kind ==
			    SPIN_WAITS,
	};
	return true;
}

/* One that makes no round is counted. */
static void add_instant(struct rounds *rounds, const struct instant *instant, uint32_t round,
			uint32_t first)
{
	struct qz_rounds *sum = &rounds->context.profile->instants;
	uint32_t before = rounds->nanswers;
	bool known = true;

	for (uint32_t i = 0; !instant->missed && i < instant->ncaptures; i++)
		known &= answer(rounds, instant, round, first + i, instant->captures[i].time);
	if (!known)
		rounds->nanswers = before;
	if (rounds->nanswers == before) {
		sum->taken++;
		++*(instant->missed ? &sum->incomplete : known ? &sum->outside : &sum->unplaced);
	}
	round_answers__sort(&rounds->answers[before], rounds->nanswers - before);
}

/* Those of one batch, which are released; gives the rest. */
static int take_batch(struct rounds *rounds, struct instant **instants)
{
	uint32_t stacks = 0, n = 0;
	int err = add_stacks(rounds, *instants);

	for (rounds->nanswers = 0; *instants && n < BATCH; n++) {
		struct instant *instant = *instants;

		if (!err)
			add_instant(rounds, instant, n, stacks);
		stacks += instant->ncaptures;
		*instants = instant->next;
		module_rounds__release(rounds->module_rounds, instant);
	}
	return err
		       ?: round_sets__add(&rounds->context, &rounds->buffer, rounds->answers,
					  rounds->nanswers);
}

static int take(struct rounds *rounds, uint64_t horizon)
{
	struct instant *instants = module_rounds__take(rounds->module_rounds, horizon);
	int err = 0;

	while (instants)
		err = take_batch(rounds, &instants) ?: err;
	return err;
}

/* ---- aiming ---- */

/* With the lock of the address spaces held. */
static struct aim *make_aim(struct address_spaces *spaces)
{
	uint32_t n = address_spaces__count(spaces);
	struct aim *aim = aim__new(n);

	for (uint32_t i = 0; aim && i < n; i++) {
		const struct image *image = address_spaces__at(spaces, i);

		if (image->ended || image->launcher)
			continue;
		aim->pids[aim->npids++] = image->pid;
	}
	return aim;
}

static int aim_anew(struct rounds *rounds)
{
	struct aim *aim;

	address_spaces__lock(rounds->context.spaces);
	aim = make_aim(rounds->context.spaces);
	address_spaces__unlock(rounds->context.spaces);
	if (!aim)
		return -ENOMEM;
	module_rounds__aim(rounds->module_rounds, aim);
	return 0;
}

int rounds__drain(struct rounds *rounds, uint64_t horizon)
{
	int err = take(rounds, horizon);

	return err ?: aim_anew(rounds);
}

int rounds__finish(struct rounds *rounds)
{
	return take(rounds, UINT64_MAX);
}

void rounds__ledger(struct rounds *rounds, struct qz_ledger *ledger)
{
	struct module_rounds_figures f;

	module_rounds__figures(rounds->module_rounds, &f);
	qz_ledger__add_event(ledger, "instants_dropped", f.dropped);
	qz_ledger__add_event(ledger, "instants_refused", f.failed);
}
