// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/spin/pending_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/vec.h"
#include "daemon/spin/spin_correction.h"

/* The samples of one half. */
struct batch {
	struct spin_correction_sample *samples;
	uint32_t n;
};

struct pending_samples {
	struct qz_profile *profile;
	struct spin_tracker *spinning;
	struct batch before, now;
	uint64_t refused;
};

struct pending_samples *pending_samples__new(struct qz_profile *profile,
					     struct spin_tracker *spinning)
{
	struct pending_samples *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->profile = profile;
	u->spinning = spinning;
	return u;
}

void pending_samples__free(struct pending_samples *u)
{
	if (!u)
		return;
	free(u->before.samples);
	free(u->now.samples);
	free(u);
}

static int append(struct batch *b, const struct spin_correction_sample *s)
{
	if (qz_array__reserve((void **)&b->samples, b->n, sizeof(*b->samples)))
		return -ENOMEM;
	b->samples[b->n++] = *s;
	return 0;
}

/* Where a stack waits and the sampler did not know, it took the processor for busy. */
static void set_spinning(struct spin_correction_sample *s, bool late)
{
	s->late = late;
	s->sample.spinning = true;
	if (late)
		s->sample.object = QZ_NONE; /* what it holds, not what it spins on */
	s->sample.busy = s->believed;
	if (late || s->believed == s->sample.level)
		s->sample.busy--;
}

int pending_samples__add(struct pending_samples *u, const struct qz_sample *key,
			 struct spin_state state)
{
	if (state.kind == SPIN_MARKED)
		spin_tracker__count(u->spinning, state.loop, key->spinning, key->count);
	return pending_samples__add_again(u, key, state);
}

int pending_samples__add_again(struct pending_samples *u, const struct qz_sample *key,
			       struct spin_state state)
{
	struct spin_correction_sample s = {.sample = *key, .loop = QZ_NONE};
	uint32_t most = u->profile->scopes[key->scope].nlevels - 1;

	s.sample.spinning = false;
	if (s.sample.level > most)
		s.sample.level = most; /* as its time was: a switch went unseen */
	s.believed = key->busy;
	if (s.believed > s.sample.level)
		s.believed = s.sample.level;
	s.sample.busy = s.believed;
	if (key->spinning || state.kind == SPIN_WAITS)
		set_spinning(&s, !key->spinning);
	else if (state.kind == SPIN_OPEN)
		s.loop = state.loop;
	return append(&u->now, &s);
}

/* What was open is decided by what the sampler has marked of the same loop since. */
static int decide(struct pending_samples *u, struct batch *b)
{
	for (uint32_t i = 0, n = b->n; i < n; i++) {
		struct spin_correction_sample s = b->samples[i];

		if (s.loop == QZ_NONE)
			continue;
		s.sample.count = spin_tracker__share(u->spinning, s.loop, s.sample.count);
		if (!s.sample.count)
			continue;
		b->samples[i].sample.count -= s.sample.count;
		if (append(b, &s))
			return -ENOMEM;
		set_spinning(&b->samples[b->n - 1], true);
	}
	return 0;
}

static int settle(struct pending_samples *u, struct batch *b)
{
	int err = decide(u, b);

	err = err ?: spin_correction__add(u->profile, b->samples, b->n, &u->refused);
	b->n = 0;
	return err;
}

static bool must_wait(const struct pending_samples *u)
{
	for (uint32_t i = 0; i < u->now.n; i++)
		if (u->now.samples[i].loop != QZ_NONE &&
		    !spin_tracker__knows(u->spinning, u->now.samples[i].loop))
			return true;
	return false;
}

void pending_samples__begin_half(struct pending_samples *u)
{
	struct batch empty = u->before;

	u->before = u->now;
	u->now = empty;
}

int pending_samples__end_half(struct pending_samples *u)
{
	int err = settle(u, &u->before);

	return err || must_wait(u) ? err : settle(u, &u->now);
}

int pending_samples__finish(struct pending_samples *u)
{
	return settle(u, &u->now);
}

uint64_t pending_samples__refused(const struct pending_samples *u)
{
	return u->refused;
}
