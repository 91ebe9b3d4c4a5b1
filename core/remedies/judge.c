/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/judge.h"

#include <math.h>

#define CHANCE	       0.05 /* probability that any interval does not hold */
#define LEAST_GAIN     0.03
#define NOTHING	       0.05
#define NARROW	       0.025 /* an interval is narrow enough if below this, */
#define PART_OF_GAIN   4     /* or below 1/4 of the gain */
#define TO_BE_SURE     6     /* pairs before a remedy is kept, if there is time */
#define CLEAR	       2     /* with fewer pairs: the gain must be this many intervals */
#define MOST_AGAINST   4     /* one of so many pairs may contradict */
#define SOME	       6     /* from so many pairs on, an outlier counts */
#define FAR	       4     /* as at most this many standard deviations, */
#define MANY	       12    /* and from so many on, not at all */
#define MOST_DISTANCES 2048

void qz_pairs__add(struct qz_pairs *p, uint64_t with_ns, uint64_t without_ns)
{
	if (p->n < QZ_JUDGE_PAIRS && with_ns && without_ns)
		p->ratio[p->n++] = (double)with_ns / (double)without_ns;
}

const char *qz_judge__name(enum qz_judged verdict)
{
	static const char *const names[QZ_JUDGES] = {
		[QZ_JUDGED_UNKNOWN] = "not known",
		[QZ_JUDGED_HELPS] = "helps",
		[QZ_JUDGED_NOTHING] = "does nothing",
		[QZ_JUDGED_HARMS] = "harms",
	};

	return names[verdict];
}

/*
 * The noise of the ratio of one pair. Load that comes and goes makes outliers. The median distance
 * ignores them, but they do move a median of few pairs; so the squares count as well, with outliers
 * limited from SOME pairs on, and only the median distance from MANY pairs on.
 */
static struct qz_noise noise_of(const struct qz_pairs *const *all, uint32_t n, uint32_t pairs)
{
	double distances[MOST_DISTANCES];
	struct qz_noise by_median, by_squares;
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		if (all[i]->n > 1 && found + all[i]->n < MOST_DISTANCES)
			found += qz_noise__add(all[i]->ratio, all[i]->n, distances + found);
	by_median = qz_noise__of(distances, found);
	by_squares = qz_noise__of_squares(distances, found,
					  pairs < SOME ? INFINITY : FAR * by_median.deviation);
	return by_median.deviation > by_squares.deviation || pairs >= MANY ? by_median : by_squares;
}

/* Whether most pairs have the same sign as their median. */
static bool pairs_agree(const struct qz_pairs *p, double gain)
{
	uint32_t against = 0;

	for (uint32_t i = 0; i < p->n; i++)
		against += (p->ratio[i] < 1) != (gain > 0);
	return against <= (p->n - 1) / MOST_AGAINST;
}

/* With few pairs, the gain must be clearer. */
static bool is_beyond_chance(const struct qz_judgement *j, uint32_t pairs)
{
	return fabs(j->gain) >= LEAST_GAIN &&
	       fabs(j->gain) > (pairs < TO_BE_SURE ? CLEAR * j->ci : j->ci);
}

static enum qz_judged verdict_of(const struct qz_judgement *j, const struct qz_pairs *p)
{
	if (p->n < QZ_JUDGE_LEAST || j->ci < 0)
		return QZ_JUDGED_UNKNOWN;
	if (is_beyond_chance(j, p->n) && pairs_agree(p, j->gain))
		return j->gain > 0 ? QZ_JUDGED_HELPS : QZ_JUDGED_HARMS;
	return fabs(j->gain) + j->ci < NOTHING ? QZ_JUDGED_NOTHING : QZ_JUDGED_UNKNOWN;
}

static bool is_enough(const struct qz_judgement *j, uint32_t pairs)
{
	bool narrow = j->ci <= NARROW || j->ci <= fabs(j->gain) / PART_OF_GAIN;

	switch (j->verdict) {
	case QZ_JUDGED_HELPS:
		return narrow && pairs >= TO_BE_SURE;
	case QZ_JUDGED_UNKNOWN:
		return false;
	default:
		return true;
	}
}

struct qz_judgement qz_judge__of(const struct qz_pairs *const *all, uint32_t n, uint32_t one,
				 uint32_t tried)
{
	const struct qz_pairs *p = all[one];
	struct qz_noise noise = noise_of(all, n, p->n);
	struct qz_judgement j = {.ci = -1};
	double ratio, deviations;

	if (!p->n)
		return j;
	ratio = qz_noise__median(p->ratio, p->n);
	j.gain = 1 - ratio;
	if (noise.n && p->n >= QZ_JUDGE_LEAST) {
		deviations = qz_noise__deviations(CHANCE / (tried > n ? tried : n));
		deviations = qz_noise__widened(deviations, noise.n);
		j.ci = ratio * expm1(qz_noise__width(&noise, deviations, p->n));
	}
	j.verdict = verdict_of(&j, p);
	j.enough = p->n == QZ_JUDGE_PAIRS || is_enough(&j, p->n);
	if (j.ci >= fmax(1, ratio))
		j.ci = -1; /* so wide an interval says nothing */
	return j;
}
