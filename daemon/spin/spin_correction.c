// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/spin/spin_correction.h"

#include <errno.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"

/* Samples of one scope and running level that believed so many processors busy. */
struct group {
	struct spin_correction_sample *samples;
	uint32_t n;
	uint32_t believed;
	uint64_t late, all; /* counts, those known to spin left out */
	uint64_t *refused;
};

enum kind { BUSY, LATE, KNOWN };

static enum kind kind_of(const struct spin_correction_sample *s)
{
	return s->late ? LATE : s->sample.spinning ? KNOWN : BUSY;
}

/* Other processors that spun unseen, beside a sample. */
static uint32_t unseen(uint32_t spinning, bool late)
{
	return late && spinning ? spinning - 1 : spinning;
}

static void refuse(const struct group *g, struct qz_profile *p, const struct qz_sample *part)
{
	struct qz_scope *scope = part->scope < p->nscopes ? &p->scopes[part->scope] : NULL;

	if (scope)
		scope->samples -= part->count < scope->samples ? part->count : scope->samples;
	if (!scope || scope->kind != QZ_SCOPE_MACHINE)
		*g->refused += part->count;
}

static int add_part(const struct group *g, struct qz_profile *p,
		    const struct spin_correction_sample *s, uint64_t count, uint32_t spinning)
{
	uint32_t least = s->sample.spinning ? 0 : 1, less = unseen(spinning, s->late);
	struct qz_sample part = s->sample;
	int err;

	if (!count)
		return 0;
	part.count = count;
	part.busy = part.busy > less + least ? part.busy - less : least;
	err = qz_profile__add_samples(p, &part);
	if (err != -EINVAL)
		return err;
	refuse(g, p, &part);
	return 0;
}

/*
 * Of the time with k = whole + rest / all spinning, the share rest / all had one more than `whole`. Of
 * the samples of believed processors in that time, (whole + 1) of `believed` are late ones.
 */
static uint64_t more_of(const struct group *g, enum kind kind, uint64_t count)
{
	uint64_t spun = g->believed * g->late, whole = spun / g->all, rest = spun % g->all;
	uint64_t share = kind == LATE ? whole + 1 : g->believed - whole - 1, more;

	if (!rest)
		return 0;
	if (kind == KNOWN)
		return (uint64_t)((unsigned __int128)count * rest / g->all);
	more = (uint64_t)((unsigned __int128)rest * share / g->believed);
	return more < count ? more : count;
}

/* Of each sample, how many fall into the time with one more. */
static int divide(const struct group *g, uint64_t *more)
{
	uint64_t *counts = calloc(2 * (size_t)g->n, sizeof(*counts)), *parts;

	if (!counts)
		return -ENOMEM;
	parts = counts + g->n;
	for (enum kind kind = BUSY; kind <= KNOWN; kind++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < g->n; i++) {
			bool is = kind_of(&g->samples[i]) == kind;

			counts[i] = is ? g->samples[i].sample.count : 0;
			sum += counts[i];
		}
		if (!sum)
			continue;
		qz_estimate__apportion(more_of(g, kind, sum), counts, g->n, parts);
		for (uint32_t i = 0; i < g->n; i++)
			more[i] += parts[i];
	}
	free(counts);
	return 0;
}

static int add_group(struct qz_profile *p, const struct group *g)
{
	uint32_t whole = g->late ? (uint32_t)(g->believed * g->late / g->all) : 0;
	uint64_t *more = calloc(g->n, sizeof(*more));
	int err = more ? 0 : -ENOMEM;

	if (!err && g->late)
		err = divide(g, more);
	for (uint32_t i = 0; !err && i < g->n; i++) {
		const struct spin_correction_sample *s = &g->samples[i];

		err = add_part(g, p, s, s->sample.count - more[i], whole);
		if (!err)
			err = add_part(g, p, s, more[i], whole + 1);
	}
	free(more);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct spin_correction_sample *x = a, *y = b;

	if (x->sample.scope != y->sample.scope)
		return x->sample.scope < y->sample.scope ? -1 : 1;
	if (x->sample.level != y->sample.level)
		return x->sample.level < y->sample.level ? -1 : 1;
	return (x->believed > y->believed) - (x->believed < y->believed);
}

int spin_correction__add(struct qz_profile *p, struct spin_correction_sample *samples, uint32_t n,
			 uint64_t *refused)
{
	int err = 0;

	if (n)
		qsort(samples, n, sizeof(*samples), compare);
	for (uint32_t i = 0; !err && i < n;) {
		struct group g = {.samples = &samples[i],
				  .believed = samples[i].believed,
				  .refused = refused};

		for (; i < n && !compare(&samples[i], g.samples); i++) {
			enum kind kind = kind_of(&samples[i]);

			g.n++;
			g.all += kind == KNOWN ? 0 : samples[i].sample.count;
			g.late += kind == LATE ? samples[i].sample.count : 0;
		}
		err = add_group(p, &g);
	}
	return err;
}
