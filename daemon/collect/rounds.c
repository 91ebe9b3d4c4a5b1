// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "daemon/collect/round_sets.h"
#include "daemon/collect/rounds.h"

/* Instants that are named together. */
#define BATCH 64

struct rounds {
	struct module_rounds *instants;
	struct spin_tracker *spinning;
	struct stack_context context;
	/* Of a batch: captures as stacks of the sampler's, and who answered what. */
	struct bpf_runtime_half half;
	struct round_answer *answers;
	uint32_t nanswers;
};

struct rounds *rounds__new(struct module_rounds *instants, uint32_t rate, uint32_t processors,
			   struct spin_tracker *spinning, const struct stack_context *context)
{
	struct rounds *m = calloc(1, sizeof(*m));
	uint32_t n = BATCH * processors;

	if (!m)
		return NULL;
	m->instants = instants;
	m->spinning = spinning;
	m->context = *context;
	m->half.stacks = calloc(n, sizeof(*m->half.stacks));
	m->half.frames = calloc(2ul * n, sizeof(*m->half.frames));
	m->half.nframes = 2 * n;
	m->answers = calloc(n, sizeof(*m->answers));
	if (!m->half.stacks || !m->half.frames || !m->answers) {
		rounds__free(m);
		return NULL;
	}
	context->profile->instants.rate_hz = rate;
	return m;
}

void rounds__free(struct rounds *m)
{
	if (!m)
		return;
	free(m->half.stacks);
	free(m->half.frames);
	free(m->answers);
	free(m);
}

/* ---- stacks ---- */

/* What one capture tells of a stack; of no image if it is of some process that is not measured. */
static void add_stack(struct rounds *m, const struct qz_capture *c)
{
	struct image *image = address_spaces__of_process(m->context.spaces, c->tgid, c->time);
	struct qz_stack_slot *slot = &m->half.stacks[m->half.nstacks];
	uint32_t offset = 2 * m->half.nstacks++;
	uint64_t *frames = &m->half.frames[offset];

	*slot = (struct qz_stack_slot) {
		.hash = 1,
		.image = image ? image->number : 0,
		.offset = offset,
		.nkernel = c->kernel_ip != 0,
		.nuser = 1,
		.depth = 1,
		.end = QZ_UNWIND_OUTERMOST,
		.stored = QZ_STACK_STORED,
	};
	frames[0] = c->kernel_ip;
	frames[slot->nkernel] = c->user_ip;
	if (!image)
		return;
	stack__want(&m->context, &m->half, slot);
	spin_tracker__want(m->spinning, &m->half, slot);
}

/* Names the stacks of the first instants, up to a batch. */
static int add_stacks(struct rounds *m, const struct instant *instant)
{
	m->half.nstacks = 0;
	for (uint32_t n = 0; instant && n < BATCH; n++, instant = instant->next)
		for (uint32_t i = 0; i < instant->ncaptures; i++)
			add_stack(m, &instant->captures[i]);
	return address_cache__resolve(m->context.addresses) ?: spin_tracker__resolve(m->spinning);
}

/* ---- answers ---- */

/* Only loops whose code alone says that they wait, spin. False: what ran there is not known. */
static bool answer(struct rounds *m, const struct instant *instant, uint32_t round, uint32_t place,
		   uint64_t time)
{
	const struct qz_stack_slot *slot = &m->half.stacks[place];
	const struct image *image = address_spaces__get(m->context.spaces, slot->image);

	if (!image)
		return instant->aim->everybody; /* then it is some other process */
	m->answers[m->nanswers++] = (struct round_answer) {
		.round = round,
		.scope = image->scope,
		.place = place,
		.time = (uint32_t)(time >> QZ_ROUND_SHIFT),
		.spinning = spin_tracker__judge(m->spinning, &m->half, slot).kind == SPIN_WAITS,
	};
	return true;
}

/* One that makes no round is counted. */
static void add_instant(struct rounds *m, const struct instant *instant, uint32_t round,
			uint32_t first)
{
	struct qz_rounds *sum = &m->context.profile->instants;
	uint32_t before = m->nanswers;
	bool known = true;

	for (uint32_t i = 0; !instant->missed && i < instant->ncaptures; i++)
		known &= answer(m, instant, round, first + i, instant->captures[i].time);
	if (!known)
		m->nanswers = before;
	if (m->nanswers == before) {
		sum->taken++;
		++*(instant->missed ? &sum->incomplete : known ? &sum->outside : &sum->unplaced);
	}
	round_answers__sort(&m->answers[before], m->nanswers - before);
	if (!instant->missed && instant->level != LEVEL_UNKNOWN) {
		sum->compared++;
		sum->differing += instant->ncaptures != instant->level;
	}
}

/* Those of one batch, which are released; gives the rest. */
static int take_batch(struct rounds *m, struct instant **instants)
{
	uint32_t stacks = 0, n = 0;
	int err = add_stacks(m, *instants);

	for (m->nanswers = 0; *instants && n < BATCH; n++) {
		struct instant *instant = *instants;

		if (!err)
			add_instant(m, instant, n, stacks);
		stacks += instant->ncaptures;
		*instants = instant->next;
		module_rounds__release(m->instants, instant);
	}
	return err ?: round_sets__add(&m->context, &m->half, m->answers, m->nanswers);
}

static int take(struct rounds *m, uint64_t horizon)
{
	struct instant *instants = module_rounds__take(m->instants, horizon);
	int err = 0;

	while (instants)
		err = take_batch(m, &instants) ?: err;
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
		if (aim->npids && image->scope != aim->scope)
			aim->scope = QZ_NO_SCOPE;
		else if (!aim->npids)
			aim->scope = image->scope;
		aim->pids[aim->npids++] = image->pid;
	}
	return aim;
}

static int aim_anew(struct rounds *m)
{
	struct aim *aim;

	address_spaces__lock(m->context.spaces);
	aim = make_aim(m->context.spaces);
	address_spaces__unlock(m->context.spaces);
	if (!aim)
		return -ENOMEM;
	module_rounds__aim(m->instants, aim);
	return 0;
}

int rounds__drain(struct rounds *m, uint64_t horizon)
{
	int err = take(m, horizon);

	return err ?: aim_anew(m);
}

int rounds__finish(struct rounds *m)
{
	return take(m, UINT64_MAX);
}

void rounds__ledger(struct rounds *m, struct qz_ledger *ledger)
{
	struct module_rounds_figures f;

	module_rounds__figures(m->instants, &f);
	qz_ledger__add_event(ledger, "instants_dropped", f.dropped);
	qz_ledger__add_event(ledger, "instants_refused", f.failed);
}
