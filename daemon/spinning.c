// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/table.h"
#include "daemon/places.h"
#include "daemon/spinning.h"

/* As near as this to the sample seen before, a thread may be in the same loop. */
#define NEAR 1024

/* Of a loop that is not longer all addresses are entered when one was sampled. */
#define SMALL_LOOP 64

/* Samples of a loop that say enough of it. */
#define ENOUGH 8

/* A loop in which threads may wait or pass, and what the sampler has told of it. */
struct loop {
	uint32_t module;
	uint64_t start;
	uint64_t spun, samples;
	uint64_t carry; /* of share() */
};

/* Where a thread was. An address that is not known is 0. */
struct point {
	uint32_t image;
	uint64_t kernel, leaf, caller;
};

struct spinning {
	struct engine *engine;
	struct images *images;
	struct modules *modules;
	struct verdicts *verdicts;
	struct qz_spin_address *table;
	uint32_t since[QZ_SPIN_ADDRESSES]; /* turn with which the sampler learned it */
	uint32_t used, turn;
	struct loop *loops;
	uint32_t nloops;
	struct qz_table by_start; /* of loops */
	struct point *seen;	  /* of each processor at the last look */
	struct point *asked;	  /* judge() looks at them */
	uint32_t nasked;
	struct qz_spin_address *news; /* for the sampler */
	uint32_t nnews;
};

struct spinning *spinning__new(struct engine *engine, struct images *images,
			       struct modules *modules, struct verdicts *verdicts)
{
	struct spinning *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->engine = engine;
	s->images = images;
	s->modules = modules;
	s->verdicts = verdicts;
	s->table = engine__spin_addresses(engine);
	s->seen = calloc(engine__processors(engine), sizeof(*s->seen));
	if (s->seen)
		return s;
	free(s);
	return NULL;
}

void spinning__free(struct spinning *s)
{
	if (!s)
		return;
	free(s->loops);
	qz_table__free(&s->by_start);
	free(s->seen);
	free(s->asked);
	free(s->news);
	free(s);
}

/* ---- the sampler's table ---- */

static struct qz_spin_address *find_slot(const struct spinning *s, uint32_t image, uint64_t address)
{
	uint32_t hash = qz_spin__hash(image, address);

	for (uint32_t i = 0; i < QZ_SPIN_PROBES; i++) {
		struct qz_spin_address *a = &s->table[(hash + i) & (QZ_SPIN_ADDRESSES - 1)];

		if (!a->address || (a->address == address && a->image == image))
			return a;
	}
	return NULL;
}

static bool is_taught(const struct spinning *s, uint32_t image, uint64_t address)
{
	const struct qz_spin_address *a = find_slot(s, image, address);

	return a && a->address;
}

/* Whoever reads in between finds less than there was, or an address of a wait in another process. */
static void forget_all(struct spinning *s)
{
	for (uint32_t i = 0; i < QZ_SPIN_ADDRESSES; i++)
		__atomic_store_n(&s->table[i].address, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	s->used = 0;
}

static void teach_one(struct spinning *s, const struct qz_spin_address *news)
{
	struct qz_spin_address *a;

	if (s->used >= QZ_SPIN_ADDRESSES / 4 * 3)
		forget_all(s);
	a = find_slot(s, news->image, news->address);
	if (!a || a->address)
		return;
	a->image = news->image;
	a->written = news->written;
	a->how = news->how;
	a->start = news->start;
	a->at = news->at;
	s->since[a - s->table] = s->turn;
	__atomic_store_n(&a->address, news->address, __ATOMIC_RELEASE);
	s->used++;
}

bool spinning__hurries(const struct spinning *s)
{
	return s->nnews;
}

void spinning__teach(struct spinning *s)
{
	s->turn++;
	for (uint32_t i = 0; i < s->nnews; i++)
		teach_one(s, &s->news[i]);
	s->nnews = 0;
}

static int add_news(struct spinning *s, const struct qz_spin_address *news)
{
	if (s->nnews >= QZ_SPIN_ADDRESSES / 2)
		return 0; /* it will be sampled again */
	if (qz_array__reserve((void **)&s->news, s->nnews, sizeof(*s->news)))
		return -ENOMEM;
	s->news[s->nnews++] = *news;
	return 0;
}

/* ---- verdicts ---- */

/* The module of an address of an image, and the address in the unit of a place. */
static bool locate(struct spinning *s, uint32_t number, uint64_t address, uint32_t *module,
		   uint64_t *place)
{
	struct image *image = images__get(s->images, number);
	const struct region *r;
	const struct module *m;

	if (!image || image->launcher || !address)
		return false;
	r = images__find(s->images, image, address);
	m = r ? modules__get(s->modules, r->module) : NULL;
	if (!m)
		return false;
	*module = r->module;
	*place = m->jit ? address : address - r->start + r->offset;
	return true;
}

static int want(struct spinning *s, uint32_t image, uint64_t address)
{
	uint64_t place;
	uint32_t module;

	return locate(s, image, address, &module, &place)
		       ? verdicts__want(s->verdicts, module, place)
		       : 0;
}

/* *shift leads from places to addresses. */
static const struct verdict *get(struct spinning *s, uint32_t image, uint64_t address,
				 uint64_t *shift)
{
	uint64_t place;
	uint32_t module;

	if (!locate(s, image, address, &module, &place))
		return NULL;
	*shift = address - place;
	return verdicts__get(s->verdicts, module, place);
}

static int ask(struct spinning *s, const struct point *p)
{
	int err = p->kernel ? verdicts__want(s->verdicts, MODULE_KERNEL, p->kernel) : 0;

	err = err ?: want(s, p->image, p->leaf);
	err = err ?: qz_array__reserve((void **)&s->asked, s->nasked, sizeof(*s->asked));
	if (!err)
		s->asked[s->nasked++] = *p;
	return err;
}

/* Lets the sampler know an address, and those of a small loop around it. */
static int enter(struct spinning *s, uint32_t image, uint64_t address, const struct verdict *v,
		 uint64_t shift)
{
	struct qz_spin_address news = {.image = image,
				       .written = (uint16_t)v->written,
				       .how = (v->confirm ? QZ_SPIN_CONFIRM : 0) |
					      (v->by_caller ? QZ_SPIN_BY_CALLER : 0),
				       .start = v->start + shift};
	uint64_t first = address, end = address + 1;
	int err = 0;

	if (v->watches) {
		news.how |= QZ_SPIN_WATCHES | v->base << 8;
		news.at = v->at + (v->base == QZ_SPIN_FIXED ? shift : 0);
	}
	if (is_taught(s, image, address))
		return 0;
	if (v->start <= v->address && v->address < v->end && v->end - v->start <= SMALL_LOOP) {
		first = v->start + shift;
		end = v->end + shift;
	}
	for (news.address = first; !err && news.address < end; news.address++)
		err = add_news(s, &news);
	return err;
}

static int judge_point(struct spinning *s, const struct point *p)
{
	const struct verdict *v, *leaf;
	uint64_t shift = 0, caller_shift = 0;
	int err = 0;

	v = p->kernel ? verdicts__get(s->verdicts, MODULE_KERNEL, p->kernel) : NULL;
	if (v && v->spin)
		err = enter(s, 0, p->kernel, v, 0);
	leaf = get(s, p->image, p->leaf, &shift);
	if (err || !leaf)
		return err;
	if (leaf->by_caller) {
		v = get(s, p->image, p->caller, &caller_shift);
		if (!v || !v->spin)
			return 0; /* a small procedure like any other */
		err = enter(s, p->image, p->caller, v, caller_shift);
	}
	return err || !(leaf->spin || leaf->by_caller) ? err
						       : enter(s, p->image, p->leaf, leaf, shift);
}

/* Those that small procedures were called by. */
static int want_callers(struct spinning *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->nasked; i++) {
		const struct point *p = &s->asked[i];
		uint64_t shift;
		const struct verdict *v = get(s, p->image, p->leaf, &shift);

		if (v && v->by_caller)
			err = want(s, p->image, p->caller);
	}
	return err;
}

int spinning__judge(struct spinning *s)
{
	int err = verdicts__judge(s->verdicts);

	err = err ?: want_callers(s);
	err = err ?: verdicts__judge(s->verdicts);
	for (uint32_t i = 0; !err && i < s->nasked; i++)
		err = judge_point(s, &s->asked[i]);
	s->nasked = 0;
	return err;
}

/*
 * Only where a processor is seen twice in the same place: a question takes its time, in which nothing
 * else is taken in, and what is not a loop will be judged with the other samples.
 */
int spinning__look(struct spinning *s)
{
	const struct qz_cpu_state *cpus = engine__cpus(s->engine);
	int err = 0;

	for (uint32_t i = 0; !err && i < engine__processors(s->engine); i++) {
		struct point p = {
			.image = __atomic_load_n(&cpus[i].leaf_image, __ATOMIC_RELAXED),
			.leaf = __atomic_load_n(&cpus[i].leaf, __ATOMIC_RELAXED),
			.caller = __atomic_load_n(&cpus[i].caller, __ATOMIC_RELAXED),
		};

		if (p.leaf && p.image == s->seen[i].image &&
		    p.leaf - s->seen[i].leaf + NEAR < 2 * NEAR)
			err = ask(s, &p);
		s->seen[i] = p;
	}
	return err ?: spinning__judge(s);
}

/* ---- stacks ---- */

static struct point point_of(const struct engine_half *half, const struct qz_stack_slot *slot)
{
	const uint64_t *frames = &half->frames[slot->offset];

	return (struct point) {
		.image = slot->image,
		.kernel = slot->nkernel ? frames[0] : 0,
		.leaf = slot->nuser ? frames[slot->nkernel] : 0,
		.caller = slot->nuser > 1 ? frames[slot->nkernel + 1] - 1 : 0,
	};
}

int spinning__want(struct spinning *s, const struct engine_half *half,
		   const struct qz_stack_slot *slot)
{
	struct point p = point_of(half, slot);

	return ask(s, &p);
}

/* ---- loops to be confirmed ---- */

static bool same_loop(const void *context, uint32_t index, const void *key)
{
	const struct loop *a = &((const struct spinning *)context)->loops[index], *b = key;

	return a->module == b->module && a->start == b->start;
}

/* Its number, or QZ_NONE when there is no memory. */
static uint32_t loop_of(struct spinning *s, const struct verdict *v)
{
	struct loop new = {.module = v->module, .start = v->start};
	uint32_t hash = qz_hash__number(qz_hash__number(1, v->module), v->start);
	uint32_t found = qz_table__find(&s->by_start, hash, same_loop, s, &new);

	if (found != QZ_NONE)
		return found;
	if (qz_table__reserve(&s->by_start) ||
	    qz_array__reserve((void **)&s->loops, s->nloops, sizeof(*s->loops)))
		return QZ_NONE;
	s->loops[s->nloops] = new;
	qz_table__insert(&s->by_start, hash, s->nloops);
	return s->nloops++;
}

/* Whether the sampler knew an address in the half that the last turn has given. */
static bool was_taught(const struct spinning *s, uint32_t image, uint64_t address)
{
	const struct qz_spin_address *a = find_slot(s, image, address);

	return a && a->address && s->since[a - s->table] < s->turn;
}

void spinning__told(struct spinning *s, uint32_t loop, bool spinning, uint64_t count)
{
	s->loops[loop].samples += count;
	s->loops[loop].spun += spinning ? count : 0;
}

bool spinning__knows(const struct spinning *s, uint32_t loop)
{
	return s->loops[loop].samples >= ENOUGH;
}

/* What a division leaves goes to the next one, so that many small counts come out right in sum. */
uint64_t spinning__share(struct spinning *s, uint32_t loop, uint64_t count)
{
	struct loop *l = &s->loops[loop];
	unsigned __int128 spun;
	uint64_t share;

	if (!l->samples)
		return 0;
	spun = (unsigned __int128)count * l->spun + l->carry % l->samples;
	share = (uint64_t)(spun / l->samples);
	l->carry = (uint64_t)(spun % l->samples);
	return share < count ? share : count;
}

enum spin_sight spinning__sight(struct spinning *s, const struct engine_half *half,
				const struct qz_stack_slot *slot, uint32_t *loop)
{
	struct point p = point_of(half, slot);
	const struct verdict *v;
	uint64_t shift, where = p.leaf;

	v = p.kernel ? verdicts__get(s->verdicts, MODULE_KERNEL, p.kernel) : NULL;
	if (v && v->spin)
		return SPIN_WAITS;
	v = get(s, p.image, p.leaf, &shift);
	if (v && v->by_caller) {
		where = p.caller;
		v = get(s, p.image, p.caller, &shift);
	}
	if (!v || !v->spin)
		return SPIN_WORKS;
	if (!v->confirm)
		return SPIN_WAITS;
	*loop = loop_of(s, v);
	if (*loop == QZ_NONE)
		return SPIN_WORKS;
	return was_taught(s, p.image, where) && was_taught(s, p.image, p.leaf) ? SPIN_TOLD
									       : SPIN_OPEN;
}
