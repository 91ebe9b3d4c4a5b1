// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/undecided.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "daemon/late.h"

/* The samples of one half. */
struct batch {
	struct late_sample *samples;
	uint32_t n;
};

struct undecided {
	struct qz_profile *profile;
	struct spinning *spinning;
	struct batch before, now;
};

struct undecided *undecided__new(struct qz_profile *profile, struct spinning *spinning)
{
	struct undecided *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->profile = profile;
	u->spinning = spinning;
	return u;
}

void undecided__free(struct undecided *u)
{
	if (!u)
		return;
	free(u->before.samples);
	free(u->now.samples);
	free(u);
}

static int append(struct batch *b, const struct late_sample *s)
{
	if (qz_array__reserve((void **)&b->samples, b->n, sizeof(*b->samples)))
		return -ENOMEM;
	b->samples[b->n++] = *s;
	return 0;
}

/* Where a stack waits and the sampler did not know, it took the processor for busy. */
static void set_spinning(struct late_sample *s, bool late)
{
	s->late = late;
	s->sample.spinning = true;
	if (late)
		s->sample.object = QZ_NONE; /* what it holds, not what it spins on */
	s->sample.busy = s->believed;
	if (late || s->believed == s->sample.level)
		s->sample.busy--;
}

int undecided__add(struct undecided *u, const struct qz_sample *key, enum spin_sight sight,
		   uint32_t loop)
{
	if (sight == SPIN_TOLD)
		spinning__told(u->spinning, loop, key->spinning, key->count);
	return undecided__add_again(u, key, sight, loop);
}

int undecided__add_again(struct undecided *u, const struct qz_sample *key, enum spin_sight sight,
			 uint32_t loop)
{
	struct late_sample s = {.sample = *key, .loop = QZ_NONE};
	uint32_t most = u->profile->scopes[key->scope].nlevels - 1;

	s.sample.spinning = false;
	if (s.sample.level > most)
		s.sample.level = most; /* as its time was: a switch went unseen */
	s.believed = key->busy;
	if (s.believed > s.sample.level)
		s.believed = s.sample.level;
	s.sample.busy = s.believed;
	if (key->spinning || sight == SPIN_WAITS)
		set_spinning(&s, !key->spinning);
	else if (sight == SPIN_OPEN)
		s.loop = loop;
	return append(&u->now, &s);
}

/* What was open is decided by what the sampler has told of the same loop since. */
static int decide(struct undecided *u, struct batch *b)
{
	for (uint32_t i = 0, n = b->n; i < n; i++) {
		struct late_sample s = b->samples[i];

		if (s.loop == QZ_NONE)
			continue;
		s.sample.count = spinning__share(u->spinning, s.loop, s.sample.count);
		if (!s.sample.count)
			continue;
		b->samples[i].sample.count -= s.sample.count;
		if (append(b, &s))
			return -ENOMEM;
		set_spinning(&b->samples[b->n - 1], true);
	}
	return 0;
}

static int settle(struct undecided *u, struct batch *b)
{
	int err = decide(u, b);

	err = err ?: late__add(u->profile, b->samples, b->n);
	b->n = 0;
	return err;
}

static bool must_wait(const struct undecided *u)
{
	for (uint32_t i = 0; i < u->now.n; i++)
		if (u->now.samples[i].loop != QZ_NONE &&
		    !spinning__knows(u->spinning, u->now.samples[i].loop))
			return true;
	return false;
}

void undecided__begin_half(struct undecided *u)
{
	struct batch empty = u->before;

	u->before = u->now;
	u->now = empty;
}

int undecided__end_half(struct undecided *u)
{
	int err = settle(u, &u->before);

	return err || must_wait(u) ? err : settle(u, &u->now);
}

int undecided__finish(struct undecided *u)
{
	return settle(u, &u->now);
}

static void fold(struct batch *b, const struct qz_maps *maps)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct qz_sample *s = &b->samples[i].sample;

		s->scope = maps->scopes[s->scope];
		if (s->thread != QZ_NONE)
			s->thread = maps->threads[s->thread];
		if (s->object != QZ_NONE)
			s->object = maps->objects[s->object];
	}
}

void undecided__folded(struct undecided *u, const struct qz_maps *maps)
{
	fold(&u->before, maps);
	fold(&u->now, maps);
}
