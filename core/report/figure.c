/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/report/polled.h"

double qz_figure__parallelism(const struct qz_figure *f)
{
	return f->norm_ns ? (double)(f->cpu_ns - f->spin_ns) / (double)f->norm_ns : 0;
}

/*
 * One block: processor times by level, normalized times by level, and the samples by running level
 * whose weights are equal, because no thread was spinning; and of these the weighted ones where the report has any.
 */
static uint64_t *hits(const struct qz_figure *f, const struct qz_report *r)
{
	return f->level_cpu_ns + 2 * (size_t)r->nlevels;
}

static uint64_t *weighted(const struct qz_figure *f, const struct qz_report *r)
{
	return hits(f, r) + r->nlevels;
}

int qz_figure__init(struct qz_figure *f, const struct qz_report *r)
{
	size_t size = (r->level_weighted ? 4 : 3) * sizeof(*f->level_cpu_ns);

	*f = (struct qz_figure) {.level_cpu_ns = calloc(r->nlevels, size)};
	if (!f->level_cpu_ns)
		return -ENOMEM;
	f->level_norm_ns = f->level_cpu_ns + r->nlevels;
	return 0;
}

/*
 * The share of a sample's processor time by which its normalized time is wrong when other processors
 * began or ceased to spin unseen: 1/b is 1/(b - 1) or 1/(b + 1) for each of them, and never more than
 * 1 nor less than 1/n.
 */
static double doubt_of(const struct qz_sample *s)
{
	double b = s->busy, n = s->level, most = 1 - 1 / n;
	double doubt = (n - 1) / (b > 1 ? b * (b - 1) : b * (b + 1));

	return doubt < most ? doubt : most;
}

static void end_stack(struct qz_figure *f, const struct qz_report *r)
{
	if (f->below_ns > 0)
		f->square += qz_polled__square(r, f->below, f->below_ns);
	f->below_ns = 0;
}

static void add_below(struct qz_figure *f, const struct qz_report *r, const struct qz_sample *s)
{
	uint32_t node = qz_polled__node(r->profile, s);

	if (node != f->below)
		end_stack(f, r);
	f->below = node;
	f->below_ns += (double)s->norm_ns;
}

/*
 * What the interval is made of. Samples whose time was taken out, all of it (core/estimate/instrumentation_cost.h), are not of
 * the figure any more. Of others a part has been, of an amount that is known: a known amount less
 * leaves the interval as it is, where the figure has all the samples that bear it, and makes it narrower
 * where it has some of them.
 * Samples that weigh more because of spinning processors add the squares of their weights, as if their
 * numbers were independent, which errs upwards.
 */
static void add_hits(struct qz_figure *f, const struct qz_report *r, const struct qz_sample *s)
{
	bool is_weighted = s->seen && !s->below;

	if (!s->count || !s->cpu_ns)
		return;
	if (s->busy != s->level) {
		f->square += (double)s->norm_ns * (double)s->norm_ns /
			     (double)(is_weighted ? s->seen : s->count);
	} else {
		hits(f, r)[s->level] += qz_sample__weight(s);
		if (is_weighted)
			weighted(f, r)[s->level] += qz_sample__weight(s);
	}
	if (s->seen && s->below)
		add_below(f, r, s);
}

void qz_figure__add(struct qz_figure *f, const struct qz_report *r, const struct qz_sample *s)
{
	f->norm_ns += s->norm_ns;
	f->cpu_ns += s->cpu_ns;
	f->samples += s->count;
	if (s->spinning) {
		f->spin_ns += s->cpu_ns;
		f->spin_samples += s->count;
		return;
	}
	if (!s->busy)
		return;
	f->level_cpu_ns[s->busy] += s->cpu_ns;
	f->level_norm_ns[s->busy] += s->norm_ns;
	f->doubt += doubt_of(s) * (double)s->cpu_ns;
	add_hits(f, r, s);
}

void qz_figure__finish(struct qz_figure *f, const struct qz_report *r)
{
	const uint64_t *level_ns = r->profile->scopes[r->scope].level_ns;
	struct qz_hits mine = {.samples = hits(f, r) + 1};
	struct qz_hits all = {.samples = r->level_samples + 1, .squares = r->level_squares + 1};
	double ci;

	end_stack(f, r);
	if (r->level_weighted) {
		mine.weighted = weighted(f, r) + 1;
		all.weighted = r->level_weighted + 1;
		all.seen = r->level_seen + 1;
	}
	ci = qz_estimate__half_width(level_ns + 1, &mine, &all, r->nlevels - 1, f->square) +
	     r->turn_share * f->doubt;
	f->ci_ns = ci < (double)INT64_MAX ? (uint64_t)llround(ci) : INT64_MAX;
}

void qz_figure__clear(struct qz_figure *f)
{
	free(f->level_cpu_ns);
	f->level_cpu_ns = f->level_norm_ns = NULL;
}
