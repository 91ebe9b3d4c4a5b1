// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "daemon/moments.h"

/* Instants that are named together. */
#define BATCH 256

/* When a scope had threads. */
struct life {
	uint64_t began, ended;
	bool alive;
	uint32_t round; /* in which it was read */
};

struct moments {
	struct instants *instants;
	struct engine *engine;
	struct verdicts *verdicts;
	struct stack_context context;
	uint32_t *scopes;   /* of the profile, by that of the engine; QZ_NONE: unknown */
	struct life *lives; /* by the engine's scope */
	uint32_t *aimed;    /* likewise: the round in which an aim took it in */
	uint32_t nscopes;
	uint32_t round;		    /* of taking in and aiming; scopes are looked at once in each */
	uint64_t *levels;	    /* for engine__read_scope */
	uint32_t *members, *owners; /* of one instant: members, and whose scope each is of */
	uint32_t processors;
};

struct moments *moments__new(struct instants *instants, uint32_t rate, struct engine *engine,
			     struct verdicts *verdicts, const struct stack_context *context)
{
	struct moments *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->instants = instants;
	m->engine = engine;
	m->verdicts = verdicts;
	m->context = *context;
	m->processors = engine__processors(engine);
	m->nscopes = engine__max_scopes(engine);
	m->scopes = malloc(m->nscopes * sizeof(*m->scopes));
	m->lives = calloc(m->nscopes, sizeof(*m->lives));
	m->aimed = calloc(m->nscopes, sizeof(*m->aimed));
	m->levels = calloc(engine__level_stride(engine), sizeof(*m->levels));
	m->members = calloc(m->processors, sizeof(*m->members));
	m->owners = calloc(m->processors, sizeof(*m->owners));
	if (!m->scopes || !m->lives || !m->aimed || !m->levels || !m->members || !m->owners) {
		moments__free(m);
		return NULL;
	}
	memset(m->scopes, 0xff, m->nscopes * sizeof(*m->scopes));
	context->profile->instants.rate_hz = rate;
	return m;
}

void moments__free(struct moments *m)
{
	if (!m)
		return;
	free(m->scopes);
	free(m->lives);
	free(m->aimed);
	free(m->levels);
	free(m->members);
	free(m->owners);
	free(m);
}

void moments__add_scope(struct moments *m, uint32_t scope, uint32_t index)
{
	m->scopes[scope] = index;
}

/* ---- whose and where ---- */

struct spot {
	uint32_t module;
	uint64_t address;
};

static bool find_spot(struct moments *m, const struct qz_capture *c, struct image *image,
		      struct spot *spot)
{
	const struct region *r;
	const struct module *module;

	if (c->kernel_ip) {
		*spot = (struct spot) {MODULE_KERNEL, c->kernel_ip};
		return true;
	}
	r = images__find(m->context.images, image, c->user_ip);
	module = r ? modules__get(m->context.modules, r->module) : NULL;
	if (!module)
		return false;
	spot->module = r->module;
	spot->address = module->jit ? c->user_ip : c->user_ip - r->start + r->offset;
	return true;
}

static void want(struct moments *m, const struct instant *instant)
{
	for (uint32_t i = 0; i < instant->ncaptures; i++) {
		const struct qz_capture *c = &instant->captures[i];
		struct image *image = images__of_process(m->context.images, c->tgid, c->time);
		struct spot spot;

		if (!image || !find_spot(m, c, image, &spot))
			continue;
		places__want(m->context.places, spot.module, spot.address);
		verdicts__want(m->verdicts, spot.module, spot.address);
	}
}

/* Code that nobody knows: outside of all that is mapped from files. */
static int64_t unknown(struct qz_profile *p)
{
	const struct qz_procedure procedure = {
		.name = "[unknown]", .module = "", .file = "", .kind = QZ_PROCEDURE};

	return qz_profile__intern_procedure(p, &procedure);
}

/* The member that a capture is, or -errno. Only loops whose code alone says that they wait, spin. */
static int64_t member_of(struct moments *m, const struct qz_capture *c, struct image *image)
{
	struct qz_profile *p = m->context.profile;
	const struct verdict *verdict = NULL;
	const struct place *place = NULL;
	struct spot spot;
	int64_t procedure;

	if (find_spot(m, c, image, &spot)) {
		place = places__get(m->context.places, spot.module, spot.address);
		verdict = verdicts__get(m->verdicts, spot.module, spot.address);
	}
	procedure = place && place->location != QZ_NONE
			    ? p->locations[place->location].lines[0].procedure
			    : unknown(p);
	if (procedure < 0)
		return procedure;
	return QZ_MEMBER((uint32_t)procedure,
			 verdict && verdict->spin && !verdict->confirm && !verdict->by_caller);
}

/* ---- sets ---- */

/* As it is now: whatever begins or ends later does so after the instants that are taken in. */
static const struct life *life_of(struct moments *m, uint32_t scope)
{
	struct life *life = &m->lives[scope];
	struct qz_scope_state state;

	if (life->round == m->round)
		return life;
	engine__read_scope(m->engine, scope, 0, &state, m->levels);
	*life = (struct life) {state.began, state.ended, state.alive, m->round};
	return life;
}

/* Whether the scope had threads then: before and after, nobody runs is no news. */
static bool has_begun(struct moments *m, uint32_t scope, uint64_t time)
{
	const struct life *life;

	if (scope >= m->nscopes || m->scopes[scope] == QZ_NONE)
		return false;
	life = life_of(m, scope);
	return life->began && time >= life->began && (life->alive || time < life->ended);
}

static void add_set(struct moments *m, uint32_t scope, uint32_t n)
{
	struct qz_profile *p = m->context.profile;
	uint32_t *members = calloc(n ? n : 1, sizeof(*members));
	struct qz_moment moment = {.scope = m->scopes[scope], .members = members, .count = 1};

	for (uint32_t i = 0; members && i < n; i++)
		if (m->owners[i] == scope)
			members[moment.n++] = m->members[i];
	if (!members || qz_profile__add_moment(p, &moment))
		p->instants.unplaced++;
	free(members);
}

static void add_instant(struct moments *m, const struct instant *instant)
{
	struct qz_instants *sum = &m->context.profile->instants;
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
		struct image *image = images__of_process(m->context.images, c->tgid, c->time);
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

static struct instant *want_batch(struct moments *m, struct instant *from)
{
	for (uint32_t n = 0; from && n < BATCH; n++, from = from->next)
		want(m, from);
	return from;
}

static int take(struct moments *m, uint64_t horizon)
{
	struct instant *instant = instants__take(m->instants, horizon), *next;
	int err = 0;

	m->round++;
	while (instant) {
		struct instant *end = want_batch(m, instant);

		err = err ?: places__resolve(m->context.places);
		err = err ?: verdicts__judge(m->verdicts);
		for (; instant != end; instant = next) {
			next = instant->next;
			if (!err)
				add_instant(m, instant);
			instants__release(m->instants, instant);
		}
	}
	return err;
}

/* ---- aiming ---- */

static void add_scope(struct moments *m, struct aim *aim, uint32_t scope)
{
	if (scope >= m->nscopes || m->aimed[scope] == m->round)
		return;
	m->aimed[scope] = m->round;
	aim->scopes[aim->nscopes++] = scope;
}

static int aim_anew(struct moments *m)
{
	struct images *images = m->context.images;
	uint32_t n = images__count(images);
	struct aim *aim = aim__new(n, n);

	if (!aim)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct image *image = images__at(images, i);

		if (image->ended || image->launcher)
			continue;
		aim->pids[aim->npids++] = image->pid;
		add_scope(m, aim, image->scope);
	}
	instants__aim(m->instants, aim);
	return 0;
}

int moments__drain(struct moments *m, uint64_t horizon)
{
	int err = take(m, horizon);

	return err ?: aim_anew(m);
}

int moments__finish(struct moments *m)
{
	return take(m, UINT64_MAX);
}

void moments__ledger(struct moments *m, struct qz_ledger *ledger)
{
	struct qz_instants *sum = &m->context.profile->instants;
	struct instants_figures f;

	instants__figures(m->instants, &f);
	sum->taken = f.taken;
	qz_ledger__add_event(ledger, "instants_dropped", f.dropped);
	qz_ledger__add_event(ledger, "instants_refused", f.failed);
}
