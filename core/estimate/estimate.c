/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/estimate/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/instrumentation_cost.h"
#include "core/util/apportion.h"
#include "core/util/hash_table.h"
#include "core/util/statistics.h"

/* ---- apportioning ---- */

void qz_estimate__apportion(uint64_t amount, const uint64_t *counts, size_t n, uint64_t *parts)
{
	struct qz_split s = {.amount = amount};

	for (size_t i = 0; i < n; i++)
		s.total += counts[i];
	for (size_t i = 0; i < n; i++)
		parts[i] = qz_split__next(&s, counts[i]);
}

/* ---- estimating ---- */

/*
 * The samples of one scope at one running level, which is exact: they share the processor time, and
 * the parts of the level the elapsed time.
 */
struct stratum {
	struct qz_split cpu, elapsed;
	uint32_t part; /* the last one, or QZ_NONE */
};

/* What of a level was spent with so many busy processors: its busy samples share it. */
struct part {
	uint32_t scope, level, busy;
	uint32_t next;	  /* the one before of the same level, or QZ_NONE */
	uint64_t samples; /* spinning ones as well */
	struct qz_split norm;
};

/* Those of one scope: up to its highest level that has time or a sample. Most have few, on however many processors. */
struct scope_strata {
	uint32_t first, n;
};

struct strata {
	struct stratum *all;
	struct scope_strata *scopes;
	struct part *parts;
	uint32_t nparts;
	struct qz_hash_table by_busy; /* of parts */
};

static void strata_free(struct strata *s)
{
	free(s->all);
	free(s->scopes);
	free(s->parts);
	qz_hash_table__free(&s->by_busy);
}

static struct stratum *stratum_of(const struct strata *s, uint32_t scope, uint32_t level)
{
	return &s->all[s->scopes[scope].first + level];
}

static struct part *part_of(const struct strata *s, const struct qz_sample *sample)
{
	const struct part key = {sample->scope, sample->level, sample->busy};

	return &s->parts[QZ_FIND(&s->by_busy, s->parts, &key, busy)];
}

/* A new one, if there is none yet. NULL: no memory. */
static struct part *add_part(struct strata *s, const struct qz_sample *sample)
{
	struct stratum *st = stratum_of(s, sample->scope, sample->level);
	const struct part new = {.scope = sample->scope,
				 .level = sample->level,
				 .busy = sample->busy,
				 .next = st->part};
	uint32_t before = s->nparts;
	int64_t i = QZ_INTERN(&s->by_busy, &s->parts, &s->nparts, &new, busy);

	if (s->nparts > before)
		st->part = (uint32_t)i;
	return i < 0 ? NULL : &s->parts[i];
}

static int count_samples(struct strata *s, const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *sample = &p->samples[i];
		struct stratum *st = stratum_of(s, sample->scope, sample->level);
		uint64_t weight = qz_sample__weight(sample);
		struct part *part = add_part(s, sample);

		if (!part)
			return -ENOMEM;
		part->samples += weight;
		if (!sample->spinning)
			part->norm.total += weight;
		st->cpu.total += weight;
		st->elapsed.total += weight;
	}
	return 0;
}

/*
 * Whatever processor a sample is of, it has the number of busy ones; so the samples of a level, busy and
 * spinning, divide its time.
 */
static void divide_level(struct strata *s, struct stratum *st)
{
	for (uint32_t i = st->part; i != QZ_NONE; i = s->parts[i].next)
		if (st->elapsed.total)
			s->parts[i].norm.amount = qz_split__next(&st->elapsed, s->parts[i].samples);
}

static uint32_t levels_with_time(const struct qz_scope *scope)
{
	uint32_t n = scope->nlevels;

	while (n && !scope->level_ns[n - 1])
		n--;
	return n;
}

/* How many each scope has. Returns the sum, or -ENOMEM. */
static int64_t count_strata(struct strata *s, const struct qz_profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nscopes; i++)
		s->scopes[i].n = levels_with_time(&p->scopes[i]);
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (s->scopes[p->samples[i].scope].n <= p->samples[i].level)
			s->scopes[p->samples[i].scope].n = p->samples[i].level + 1;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		s->scopes[i].first = n;
		if (__builtin_add_overflow(n, s->scopes[i].n, &n))
			return -ENOMEM;
	}
	return n;
}

static int strata_init(struct strata *s, const struct qz_profile *p)
{
	int64_t n;

	s->scopes = calloc(p->nscopes, sizeof(*s->scopes));
	n = s->scopes ? count_strata(s, p) : -ENOMEM;
	s->all = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*s->all));
	if (!s->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		for (uint32_t level = 0; level < s->scopes[i].n; level++) {
			struct stratum *st = stratum_of(s, i, level);

			st->elapsed.amount = p->scopes[i].level_ns[level];
			st->cpu.amount = level * p->scopes[i].level_ns[level];
			st->part = QZ_NONE;
		}
	}
	if (count_samples(s, p))
		return -ENOMEM;
	for (int64_t i = 0; i < n; i++)
		divide_level(s, &s->all[i]);
	return 0;
}

static void estimate_samples(struct qz_profile *p, const struct strata *s)
{
	for (uint32_t i = 0; i < p->nsamples; i++) {
		struct qz_sample *sample = &p->samples[i];
		struct stratum *st = stratum_of(s, sample->scope, sample->level);
		struct part *part = part_of(s, sample);

		sample->norm_ns = sample->cpu_ns = 0;
		if (st->cpu.total)
			sample->cpu_ns = qz_split__next(&st->cpu, qz_sample__weight(sample));
		if (part->norm.total && !sample->spinning)
			sample->norm_ns = qz_split__next(&part->norm, qz_sample__weight(sample));
	}
}

/* Time of which there is no sample that could have it. */
static int add_unattributed(struct qz_profile *p, uint32_t scope, uint32_t level, uint32_t busy,
			    uint64_t norm_ns, uint64_t cpu_ns)
{
	int64_t marker = qz_profile__marker(p, QZ_UNATTRIBUTED), node, index;

	if (marker < 0)
		return (int)marker;
	node = qz_profile__intern_node(p, 0, (uint32_t)marker);
	if (node < 0)
		return (int)node;
	index = qz_profile__intern_sample(p, &(struct qz_sample) {.scope = scope,
								  .thread = QZ_NONE,
								  .node = (uint32_t)node,
								  .level = level,
								  .busy = busy,
								  .object = QZ_NONE});
	if (index < 0)
		return (int)index;
	p->samples[index].norm_ns = norm_ns;
	p->samples[index].cpu_ns = cpu_ns;
	return 0;
}

/* Levels without a sample, and parts that only spinning processors have seen. */
static int add_all_unattributed(struct qz_profile *p, const struct strata *s)
{
	int err = 0;

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		for (uint32_t level = 1; !err && level < s->scopes[scope].n; level++) {
			const struct stratum *st = stratum_of(s, scope, level);

			if (st->cpu.total == 0 && st->elapsed.amount != 0)
				err = add_unattributed(p, scope, level, level, st->elapsed.amount,
						       st->cpu.amount);
		}
	}
	for (uint32_t i = 0; !err && i < s->nparts; i++) {
		const struct part *part = &s->parts[i];

		if (part->busy && part->norm.amount && !part->norm.total)
			err = add_unattributed(p, part->scope, part->level, part->busy,
					       part->norm.amount, 0);
	}
	return err;
}

int qz_estimate__profile(struct qz_profile *p)
{
	struct strata s = {0};
	int err;

	if (p->nscopes == 0)
		return 0;
	qz_profile__drop_unattributed(p);
	err = strata_init(&s, p);
	if (!err) {
		estimate_samples(p, &s);
		err = add_all_unattributed(p, &s);
	}
	if (!err)
		err = qz_instrumentation_cost__subtract(p);
	strata_free(&s);
	return err;
}

/* ---- confidence ---- */

/* Variance of hits / samples. Agresti and Coull: as if z^2/2 hits and misses had been seen more. */
static double share_variance(double hits, double samples)
{
	if (hits == 0 || hits >= samples) {
		hits += QZ_Z_95 * QZ_Z_95 / 2;
		samples += QZ_Z_95 * QZ_Z_95;
	}
	return hits / samples * (1 - hits / samples) / samples;
}

/*
 * Of n samples of the kernel's sampler, a share w is weighted and h of them are hits; a share s = 1 - w is
 * polled, of which m are hits by more samples. So a sample of the kernel's is worth 1, m or 0. All are sums
 * of weights, of which each sample has `weight` on average.
 */
static double level_variance(const struct qz_hits *hits, const struct qz_hits *all, size_t level)
{
	double samples = (double)all->samples[level];
	double weight = (double)all->squares[level] / samples;
	double share = (double)hits->samples[level] / samples;
	double weighted, polled, n, h, m, s;

	if (!all->weighted || !all->weighted[level] || !all->seen[level])
		return share_variance((double)hits->samples[level] / weight, samples / weight);
	n = samples * (double)all->seen[level] / (double)all->weighted[level] / weight;
	if (share == 0 || share >= 1)
		return share_variance(share * n, n);
	weighted = (double)hits->weighted[level];
	polled = samples - (double)all->weighted[level];
	h = weighted / samples;
	s = polled / samples;
	if (polled <= 0)
		return h * (1 - h) / n;
	m = ((double)hits->samples[level] - weighted) / polled;
	polled /= weight;
	return (h + s * m * m - share * share) / n + s * s * share_variance(m * polled, polled);
}

double qz_estimate__half_width(const uint64_t *amount, const struct qz_hits *hits,
			       const struct qz_hits *all, size_t nlevels, double square)
{
	double variance = square, unknown = 0;
	bool any = square > 0;

	for (size_t n = 0; n < nlevels; n++) {
		double a = (double)amount[n];

		any = any || hits->samples[n] != 0;
		if (all->samples[n] == 0)
			unknown += a;
		else
			variance += a * a * level_variance(hits, all, n);
	}
	return any ? QZ_Z_95 * sqrt(variance > 0 ? variance : 0) + unknown : 0;
}

uint64_t qz_share_half_width(uint64_t amount, uint64_t hits, uint64_t samples)
{
	double half;

	if (!samples)
		return amount;
	if (hits > samples)
		hits = samples;
	half = QZ_Z_95 * sqrt(share_variance((double)hits, (double)samples));
	return (uint64_t)llround((half < 1 ? half : 1) * (double)amount);
}

/* ---- rates ---- */

double qz_profile__rate(const struct qz_profile *p)
{
	return ldexp(p->rate_hz, -(int)p->halvings);
}

double qz_profile__least_rate(const struct qz_profile *p)
{
	uint32_t most = p->halvings;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].count && p->samples[i].halvings > most)
			most = p->samples[i].halvings;
	return ldexp(p->rate_hz, -(int)most);
}
