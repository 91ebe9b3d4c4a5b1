// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/estimate.h"
#include "core/table.h"
#include "daemon/poll_join.h"

/* Where a leaf of the kernel's samples belongs. */
struct leaf {
	uint32_t node, stack;
	uint64_t count; /* of samples of polled threads, while the two are joined */
};

struct poll_join {
	struct qz_profile *profile;
	struct qz_sample *groups; /* polled samples; all but the times are used */
	uint32_t ngroups;
	struct leaf *leaves;
	uint32_t nleaves;
	struct qz_table by_group, by_leaf;
	bool *polled; /* by thread of the profile */
	uint32_t npolled;
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
	free(j->groups);
	free(j->leaves);
	free(j->polled);
	free(j->kernel);
	qz_table__free(&j->by_group);
	qz_table__free(&j->by_leaf);
	free(j);
}

/* ---- collecting ---- */

static bool same_leaf(const void *context, uint32_t index, const void *key)
{
	const struct poll_join *j = context;

	return j->leaves[index].node == *(const uint32_t *)key;
}

int poll_join__leaf(struct poll_join *j, uint32_t node, uint32_t stack)
{
	uint32_t hash = qz_hash__number(1, node);

	if (qz_table__find(&j->by_leaf, hash, same_leaf, j, &node) != UINT32_MAX)
		return 0;
	if (qz_array__reserve((void **)&j->leaves, j->nleaves, sizeof(*j->leaves)) ||
	    qz_table__reserve(&j->by_leaf))
		return -ENOMEM;
	j->leaves[j->nleaves] = (struct leaf) {.node = node, .stack = stack};
	qz_table__insert(&j->by_leaf, hash, j->nleaves++);
	return 0;
}

static bool same_group(const void *context, uint32_t index, const void *key)
{
	const struct poll_join *j = context;
	const struct qz_sample *a = &j->groups[index], *b = key;

	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->level == b->level && a->busy == b->busy && a->spinning == b->spinning &&
	       a->object == b->object;
}

static uint32_t hash_group(const struct qz_sample *s)
{
	uint32_t h = qz_hash__number(1, (uint64_t)s->scope << 32 | s->thread);

	h = qz_hash__number(h, (uint64_t)s->node << 32 | s->level);
	return qz_hash__number(h, (uint64_t)s->object << 32 | s->busy << 1 | s->spinning);
}

static int set_polled(struct poll_join *j, uint32_t thread)
{
	while (j->npolled <= thread) {
		if (qz_array__reserve((void **)&j->polled, j->npolled, sizeof(*j->polled)))
			return -ENOMEM;
		j->polled[j->npolled++] = false;
	}
	j->polled[thread] = true;
	return 0;
}

int poll_join__add(struct poll_join *j, const struct qz_sample *sample)
{
	uint32_t hash = hash_group(sample), i;

	if (sample->thread == QZ_NONE)
		return -EINVAL;
	i = qz_table__find(&j->by_group, hash, same_group, j, sample);
	if (i != UINT32_MAX) {
		j->groups[i].count += sample->count;
		return 0;
	}
	if (set_polled(j, sample->thread) ||
	    qz_array__reserve((void **)&j->groups, j->ngroups, sizeof(*j->groups)) ||
	    qz_table__reserve(&j->by_group))
		return -ENOMEM;
	j->groups[j->ngroups] = *sample;
	qz_table__insert(&j->by_group, hash, j->ngroups++);
	return 0;
}

/* ---- joining ---- */

/* Polled samples of one scope and level, and the kernel's samples of polled threads there. */
struct ratio {
	uint64_t polled, kernel;
};

struct joining {
	struct ratio *ratios; /* of all levels, scope by scope */
	uint32_t *first;      /* of each scope; its level 0 stands for all its levels */
};

/* Pollers do not look at the machine's level: its samples remain the kernel's. */
static bool is_polled(const struct poll_join *j, const struct qz_sample *s)
{
	return s->thread < j->npolled && j->polled[s->thread] &&
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
	if (!g->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		g->first[i] = n;
		n += p->scopes[i].nlevels + 1;
	}
	g->ratios = calloc(n + 1, sizeof(*g->ratios));
	if (!g->ratios)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->ngroups; i++)
		add_ratio(g, &j->groups[i], j->groups[i].count, 0);
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_polled(j, &p->samples[i]))
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
		uint32_t leaf = qz_table__find(&j->by_leaf, qz_hash__number(1, s->node), same_leaf,
					       j, &s->node);

		j->kernel[i] = s->count;
		if (!is_polled(j, s)) {
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

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
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
		qz_apportion(group->count, counts, n, parts);
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
	for (uint32_t i = 0; i < j->ngroups && !err; i++) {
		uint32_t first = first_of(sorted, j->nleaves, j->groups[i].node), n = 0;

		while (first + n < j->nleaves && sorted[first + n].stack == j->groups[i].node)
			n++;
		err = share_out(j, &j->groups[i], &sorted[first], n);
	}
	free(sorted);
	return err;
}

int poll_join__apply(struct poll_join *j)
{
	struct joining g = {0};
	int err;

	poll_join__restore(j);
	if (!j->ngroups)
		return 0;
	/* now, for the estimate would do it, and move the others */
	qz_profile__drop_unattributed(j->profile);
	err = begin(j, &g);
	err = err ? err : set_aside(j, &g);
	j->applied = !err;
	err = err ? err : add_polled(j);
	free(g.first);
	free(g.ratios);
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

int poll_join__folded(struct poll_join *j, const struct qz_maps *maps)
{
	struct qz_sample *groups = j->groups;
	uint32_t n = j->ngroups;
	int err = 0;

	free(j->polled);
	j->polled = NULL;
	j->npolled = 0;
	j->groups = NULL;
	j->ngroups = 0;
	qz_table__clear(&j->by_group);
	for (uint32_t i = 0; !err && i < n; i++) {
		struct qz_sample s = groups[i];

		s.scope = maps->scopes[s.scope];
		s.thread = maps->threads[s.thread];
		s.object = s.object == QZ_NONE ? QZ_NONE : maps->objects[s.object];
		err = poll_join__add(j, &s);
	}
	free(groups);
	return err;
}
