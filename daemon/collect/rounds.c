// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/rounds.h"

/* Instants that are named together. */
#define BATCH 256

/* When a scope had threads. */
struct life {
	uint64_t began, ended;
	bool alive;
	uint32_t round; /* in which it was read */
};

struct rounds {
	struct module_rounds *instants;
	struct bpf_runtime *engine;
	struct spin_classify *classes;
	struct stack_context context;
	struct life *lives; /* by the engine's scope */
	uint32_t *aimed;    /* likewise: the round in which an aim took it in */
	uint32_t nscopes;
	uint32_t round;		    /* of taking in and aiming; scopes are looked at once in each */
	uint64_t *levels;	    /* for bpf_scopes__read */
	uint32_t *members, *owners; /* of one instant: members, and whose scope each is of */
	uint32_t processors;
};

struct rounds *rounds__new(struct module_rounds *instants, uint32_t rate,
			   struct bpf_runtime *engine, struct spin_classify *classes,
			   const struct stack_context *context)
{
	struct rounds *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->instants = instants;
	m->engine = engine;
	m->classes = classes;
	m->context = *context;
	m->processors = bpf_runtime__processors(engine);
	m->nscopes = bpf_runtime__max_scopes(engine);
	m->lives = calloc(m->nscopes, sizeof(*m->lives));
	m->aimed = calloc(m->nscopes, sizeof(*m->aimed));
	m->levels = calloc(bpf_runtime__level_stride(engine), sizeof(*m->levels));
	m->members = calloc(m->processors, sizeof(*m->members));
	m->owners = calloc(m->processors, sizeof(*m->owners));
	if (!m->lives || !m->aimed || !m->levels || !m->members || !m->owners) {
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
	free(m->lives);
	free(m->aimed);
	free(m->levels);
	free(m->members);
	free(m->owners);
	free(m);
}

/* ---- whose and where ---- */

struct spot {
	uint32_t module;
	uint64_t address;
};

static bool find_spot(struct rounds *m, const struct qz_capture *c, struct image *image,
		      struct spot *spot)
{
	const struct module *module;
	struct region r;

	if (c->kernel_ip) {
		*spot = (struct spot) {MODULE_KERNEL, c->kernel_ip};
		return true;
	}
	if (!address_spaces__find(m->context.images, image, c->user_ip, &r))
		return false;
	module = modules__get(m->context.modules, r.module);
	if (!module)
		return false;
	spot->module = r.module;
	spot->address = module->jit ? c->user_ip : c->user_ip - r.start + r.offset;
	return true;
}

static void want(struct rounds *m, const struct instant *instant)
{
	for (uint32_t i = 0; i < instant->ncaptures; i++) {
		const struct qz_capture *c = &instant->captures[i];
		struct image *image =
			address_spaces__of_process(m->context.images, c->tgid, c->time);
		struct spot spot;

		if (!image || !find_spot(m, c, image, &spot))
			continue;
		address_cache__want(m->context.places, spot.module, spot.address);
		spin_classify__want(m->classes, spot.module, spot.address);
	}
}

/* The member that a capture is, or -errno. Only loops whose code alone says that they wait, spin. */
static int64_t member_of(struct rounds *m, const struct qz_capture *c, struct image *image)
{
	const struct code_class *class = NULL;
	const struct place *place = NULL;
	struct spot spot;
	int64_t procedure;

	if (find_spot(m, c, image, &spot)) {
		place = address_cache__get(m->context.places, spot.module, spot.address);
		class = spin_classify__get(m->classes, spot.module, spot.address);
	}
	procedure = place__procedure(m->context.profile, place);
	if (procedure < 0)
		return procedure;
	return QZ_MEMBER((uint32_t)procedure,
			 class && class->code.class != QZ_SPIN_NONE &&
				 !(class->code.flags & (QZ_SPIN_CONFIRM | QZ_SPIN_BY_CALLER)));
}

/* ---- sets ---- */

/* As it is now: whatever begins or ends later does so after the instants that are taken in. */
static const struct life *life_of(struct rounds *m, uint32_t scope)
{
	struct life *life = &m->lives[scope];
	struct qz_scope_state state;

	if (life->round == m->round)
		return life;
	bpf_scopes__read(m->engine, scope, 0, &state, m->levels);
	*life = (struct life) {state.began, state.ended, state.alive, m->round};
	return life;
}

/* Whether the scope had threads then: before and after, nobody runs is no news. */
static bool has_begun(struct rounds *m, uint32_t scope, uint64_t time)
{
	const struct life *life;

	if (stack_context__scope(&m->context, scope) == QZ_NONE)
		return false;
	life = life_of(m, scope);
	return life->began && time >= life->began && (life->alive || time < life->ended);
}

static void add_set(struct rounds *m, uint32_t scope, uint32_t n)
{
	struct qz_profile *p = m->context.profile;
	uint32_t *members = calloc(n ? n : 1, sizeof(*members));
	struct qz_round round = {.scope = m->context.scopes[scope], .members = members, .count = 1};

	for (uint32_t i = 0; members && i < n; i++)
		if (m->owners[i] == scope)
			members[round.n++] = m->members[i];
	if (!members || qz_rounds__add(p, &round))
		p->instants.unplaced++;
	free(members);
}

static void add_instant(struct rounds *m, const struct instant *instant)
{
	struct qz_rounds *sum = &m->context.profile->instants;
	bool outside = true;
	uint32_t n = 0;

	if (instant->missed) {
		sum->incomplete++;
		return;
	}
	sum->skew_ns += instant->skew_ns;
	if (instant->skew_ns > sum->skew_max_ns)
		sum->skew_max_ns = instant->skew_ns;
	for (uint32_t i = 0; i < instant->ncaptures && n < m->processors; i++) {
		const struct qz_capture *c = &instant->captures[i];
		struct image *image =
			address_spaces__of_process(m->context.images, c->tgid, c->time);
		int64_t member;

		if (!image && instant->aim->everybody)
			continue; /* it is some other process */
		member = image ? member_of(m, c, image) : -1;
		if (member < 0) {
			sum->unplaced++;
			return;
		}
		m->members[n] = (uint32_t)member;
		m->owners[n++] = image->scope;
	}
	for (uint32_t i = 0; i < instant->aim->nscopes; i++)
		if (has_begun(m, instant->aim->scopes[i], instant->begun)) {
			add_set(m, instant->aim->scopes[i], n);
			outside = false;
		}
	sum->outside += outside;
	if (!outside && instant->level != LEVEL_UNKNOWN) {
		sum->compared++;
		sum->differing += n != instant->level;
	}
}

static struct instant *want_batch(struct rounds *m, struct instant *from)
{
	for (uint32_t n = 0; from && n < BATCH; n++, from = from->next)
		want(m, from);
	return from;
}

static int take(struct rounds *m, uint64_t horizon)
{
	struct instant *instant = module_rounds__take(m->instants, horizon), *next;
	int err = 0;

	m->round++;
	while (instant) {
		struct instant *end = want_batch(m, instant);

		err = err ?: address_cache__resolve(m->context.places);
		err = err ?: spin_classify__resolve(m->classes);
		for (; instant != end; instant = next) {
			next = instant->next;
			if (!err)
				add_instant(m, instant);
			module_rounds__release(m->instants, instant);
		}
	}
	return err;
}

/* ---- aiming ---- */

static void add_scope(struct rounds *m, struct aim *aim, uint32_t scope)
{
	if (scope >= m->nscopes || m->aimed[scope] == m->round)
		return;
	m->aimed[scope] = m->round;
	aim->scopes[aim->nscopes++] = scope;
}

/* With the lock of the images held. */
static struct aim *make_aim(struct rounds *m, struct address_spaces *images)
{
	uint32_t n = address_spaces__count(images);
	struct aim *aim = aim__new(n, n);

	for (uint32_t i = 0; aim && i < n; i++) {
		const struct image *image = address_spaces__at(images, i);

		if (image->ended || image->launcher)
			continue;
		aim->pids[aim->npids++] = image->pid;
		add_scope(m, aim, image->scope);
	}
	return aim;
}

static int aim_anew(struct rounds *m)
{
	struct aim *aim;

	address_spaces__lock(m->context.images);
	aim = make_aim(m, m->context.images);
	address_spaces__unlock(m->context.images);
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
	struct qz_rounds *sum = &m->context.profile->instants;
	struct module_rounds_figures f;

	module_rounds__figures(m->instants, &f);
	sum->taken = f.taken;
	qz_ledger__add_event(ledger, "instants_dropped", f.dropped);
	qz_ledger__add_event(ledger, "instants_refused", f.failed);
}
