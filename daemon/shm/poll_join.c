// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/util/hash_table.h"
#include "core/util/order.h"
#include "daemon/shm/poll_join.h"

/* Where a leaf of the kernel's samples belongs. */
struct leaf {
	uint32_t node, stack;
	uint64_t count; /* of samples of polled threads, while the two are joined */
};

struct poll_join {
	struct qz_profile *profile;
	struct leaf *leaves;
	uint32_t nleaves;
	struct qz_hash_table by_leaf;
	uint64_t *kernel; /* counts of the profile's samples without the polled ones */
	uint32_t nkernel;
	bool applied;
};

struct poll_join *poll_join__new(struct qz_profile *profile)
{
	struct poll_join *j = calloc(1, sizeof(*j));

	if (j)
		j->profile = profile;
	return j;
}

void poll_join__free(struct poll_join *j)
{
	if (!j)
		return;
	free(j->leaves);
	free(j->kernel);
	qz_hash_table__free(&j->by_leaf);
	free(j);
}

/* ---- collecting ---- */

int poll_join__leaf(struct poll_join *j, uint32_t node, uint32_t stack)
{
	const struct leaf new = {.node = node, .stack = stack};
	int64_t index = QZ_INTERN(&j->by_leaf, &j->leaves, &j->nleaves, &new, node);

	return index < 0 ? (int)index : 0;
}

int poll_join__add(struct poll_join *j, const struct qz_sample *sample)
{
	return sample->thread == QZ_NONE ? -EINVAL : qz_profile__add_polled(j->profile, sample);
}

/* ---- joining ---- */

/* Polled samples of one scope and level, and the kernel's samples of polled threads there. */
struct ratio {
	uint64_t polled, kernel;
};

struct joining {
	struct ratio *ratios; /* of all levels, scope by scope */
	uint32_t *first;      /* of each scope; its level 0 stands for all its levels */
	bool *threads;	      /* of the profile: which are polled */
};

/* Pollers do not read the machine's level: its samples remain the kernel's. */
static bool is_polled(const struct poll_join *j, const struct joining *g, const struct qz_sample *s)
{
	return s->thread != QZ_NONE && g->threads[s->thread] &&
	       j->profile->scopes[s->scope].kind != QZ_SCOPE_MACHINE;
}

static void add_ratio(const struct joining *g, const struct qz_sample *s, uint64_t polled,
		      uint64_t kernel)
{
	struct ratio *all = &g->ratios[g->first[s->scope]], *level = &all[s->level];

	all->polled += polled;
	all->kernel += kernel;
	level->polled += polled;
	level->kernel += kernel;
}

static int begin(const struct poll_join *j, struct joining *g)
{
	const struct qz_profile *p = j->profile;
	uint32_t n = 0;

	g->first = calloc(p->nscopes + 1, sizeof(*g->first));
	g->threads = calloc(p->nthreads + 1, sizeof(*g->threads));
	if (!g->first || !g->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		g->first[i] = n;
		n += p->scopes[i].nlevels + 1;
	}
	g->ratios = calloc(n + 1, sizeof(*g->ratios));
	if (!g->ratios)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->npolled; i++) {
		add_ratio(g, &p->polled[i], p->polled[i].count, 0);
		g->threads[p->polled[i].thread] = true;
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_polled(j, g, &p->samples[i]))
			add_ratio(g, &p->samples[i], 0, qz_sample__weight(&p->samples[i]));
	return 0;
}

/* Never to nothing, and by the ratio of all levels where one of them is not known. */
static uint64_t weigh(const struct joining *g, const struct qz_sample *s)
{
	const struct ratio *all = &g->ratios[g->first[s->scope]], *r = &all[s->level];
	uint64_t count;

	if (!s->count || !all->polled)
		return s->count;
	if (!r->polled || !r->kernel)
		r = all;
	if (!r->kernel)
		return s->count;
	count = ((unsigned __int128)s->count * r->polled + r->kernel / 2) / r->kernel;
	return count ? count : 1;
}

/* Takes the kernel's counts away: those of polled threads go to their leaves. */
static int set_aside(struct poll_join *j, const struct joining *g)
{
	struct qz_profile *p = j->profile;

	free(j->kernel);
	j->kernel = calloc(p->nsamples + 1, sizeof(*j->kernel));
	if (!j->kernel)
		return -ENOMEM;
	j->nkernel = p->nsamples;
	for (uint32_t i = 0; i < j->nleaves; i++)
		j->leaves[i].count = 0;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		struct qz_sample *s = &p->samples[i];
		const struct leaf key = {.node = s->node};
		uint32_t leaf = QZ_FIND(&j->by_leaf, j->leaves, &key, node);

		j->kernel[i] = s->count;
		if (!is_polled(j, g, s)) {
			s->seen = s->count;
			s->count = weigh(g, s);
			continue;
		}
		if (leaf != UINT32_MAX)
			j->leaves[leaf].count += qz_sample__weight(s);
		s->count = 0;
	}
	return 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	return qz_order(x->stack, y->stack) ?: qz_order(x->node, y->node);
}

static uint32_t first_of(const struct leaf *leaves, uint32_t n, uint32_t stack)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t middle = low + (n - low) / 2;

		if (leaves[middle].stack < stack)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Each share remembers how many of the kernel's samples say what all of them are. */
static int share_out(struct poll_join *j, const struct qz_sample *group, const struct leaf *leaves,
		     uint32_t n)
{
	uint64_t *counts = calloc(2ul * n + 1, sizeof(*counts)), *parts = counts + n, sum = 0;
	struct qz_sample part = *group;
	int err = 0;

	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		sum += counts[i] = leaves[i].count;
	if (!sum) {
		err = qz_profile__add_samples(j->profile, group);
		n = 0;
	} else {
		qz_estimate__apportion(group->count, counts, n, parts);
		part.below = j->profile->nodes[group->node].depth + 1;
		part.seen = sum;
	}
	for (uint32_t i = 0; i < n && !err; i++) {
		part.node = leaves[i].node;
		part.count = parts[i];
		if (part.count)
			err = qz_profile__add_samples(j->profile, &part);
	}
	free(counts);
	return err;
}

static int add_polled(struct poll_join *j)
{
	struct leaf *sorted = malloc((j->nleaves + 1) * sizeof(*sorted));
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	if (j->nleaves)
		memcpy(sorted, j->leaves, j->nleaves * sizeof(*sorted));
	qsort(sorted, j->nleaves, sizeof(*sorted), by_stack);
	for (uint32_t i = 0; i < j->profile->npolled && !err; i++) {
		const struct qz_sample *group = &j->profile->polled[i];
		uint32_t first = first_of(sorted, j->nleaves, group->node), n = 0;

		while (first + n < j->nleaves && sorted[first + n].stack == group->node)
			n++;
		err = share_out(j, group, &sorted[first], n);
	}
	free(sorted);
	return err;
}

int poll_join__apply(struct poll_join *j)
{
	struct joining g = {0};
	int err;

	poll_join__restore(j);
	if (!j->profile->npolled)
		return 0;
	/* now, for the estimate would do it, and move the others */
	qz_profile__drop_unattributed(j->profile);
	err = begin(j, &g);
	err = err ? err : set_aside(j, &g);
	j->applied = !err;
	err = err ? err : add_polled(j);
	free(g.first);
	free(g.ratios);
	free(g.threads);
	return err;
}

void poll_join__restore(struct poll_join *j)
{
	struct qz_profile *p = j->profile;

	for (uint32_t i = 0; j->applied && i < p->nsamples; i++) {
		p->samples[i].count = i < j->nkernel ? j->kernel[i] : 0;
		p->samples[i].below = p->samples[i].seen = 0;
	}
	j->applied = false;
}
