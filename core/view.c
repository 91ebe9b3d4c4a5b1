/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate.h"

uint32_t qz_frames__next(struct qz_frames *f)
{
	const struct qz_profile *p = f->profile;

	while (f->node != 0) {
		const struct qz_location *loc = &p->locations[p->nodes[f->node].location];

		if (f->line < loc->nlines)
			return loc->lines[f->line++].procedure;
		f->node = p->nodes[f->node].parent;
		f->line = 0;
	}
	return QZ_NONE;
}

double qz_figure__parallelism(const struct qz_figure *f)
{
	return f->norm_ns ? (double)(f->cpu_ns - f->spin_ns) / (double)f->norm_ns : 0;
}

/*
 * One block: processor times by level, normalized times by level, and the samples by running level
 * that are equal in what they weigh, because nobody was spinning.
 */
static uint64_t *hits(const struct qz_figure *f, uint32_t nlevels)
{
	return f->level_cpu_ns + 2 * (size_t)nlevels;
}

int qz_figure__init(struct qz_figure *f, uint32_t nlevels)
{
	*f = (struct qz_figure) {.level_cpu_ns = calloc(nlevels, 3 * sizeof(*f->level_cpu_ns))};
	if (!f->level_cpu_ns)
		return -ENOMEM;
	f->level_norm_ns = f->level_cpu_ns + nlevels;
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

void qz_figure__add(struct qz_figure *f, uint32_t nlevels, const struct qz_sample *s)
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
	if (s->busy == s->level)
		hits(f, nlevels)[s->level] += qz_sample__weight(s);
	else if (s->count)
		f->square += (double)s->norm_ns * (double)s->norm_ns / (double)s->count;
}

void qz_figure__finish(struct qz_figure *f, const struct qz_report *r)
{
	const uint64_t *level_ns = r->profile->scopes[r->scope].level_ns;
	double ci = qz_half_width(level_ns + 1, hits(f, r->nlevels) + 1, r->level_samples + 1,
				  r->level_squares + 1, r->nlevels - 1, f->square) +
		    r->turn_share * f->doubt;

	f->ci_ns = ci < (double)INT64_MAX ? (uint64_t)llround(ci) : INT64_MAX;
}

void qz_figure__clear(struct qz_figure *f)
{
	free(f->level_cpu_ns);
	f->level_cpu_ns = f->level_norm_ns = NULL;
}
