/* SPDX-License-Identifier: GPL-2.0-only */
/* What the pairs of a trial tell so far. */
#include "cli/tries/tries.h"

struct qz_judgement tries__judge(const struct tries *t, const struct try_trial *trial)
{
	const struct qz_pairs *all[QZ_REMEDIES_MOST + 1];
	uint32_t one = t->n;

	for (uint32_t i = 0; i < t->n; i++) {
		all[i] = &t->trials[i].pairs;
		one = trial == &t->trials[i] ? i : one;
	}
	all[t->n] = &t->together.pairs;
	return qz_judge__of(all, t->n + 1, one, t->n + 1);
}

bool tries__helps(const struct tries *t, const struct try_trial *trial)
{
	return !*trial->failure && tries__judge(t, trial).verdict == QZ_JUDGED_HELPS;
}

const char *tries__verdict(const struct tries *t, const struct try_trial *trial)
{
	if (!*trial->failure)
		return qz_judge__name(tries__judge(t, trial).verdict);
	return trial->slow < TRIES_SLOW ? "breaks it" : qz_judge__name(QZ_JUDGED_HARMS);
}

double tries__median(const double *ratios, uint32_t n)
{
	return n ? qz_noise__median(ratios, n) : 0;
}

static const struct try_trial *best_single(const struct tries *t)
{
	const struct try_trial *best = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		if (tries__helps(t, &t->trials[i]) &&
		    (!best || tries__judge(t, &t->trials[i]).gain > tries__judge(t, best).gain))
			best = &t->trials[i];
	return best;
}

const struct try_trial *tries__leader(const struct tries *t)
{
	const struct try_trial *leader = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].pairs.n && !*t->trials[i].failure &&
		    (!leader || tries__judge(t, &t->trials[i]).gain > tries__judge(t, leader).gain))
			leader = &t->trials[i];
	return leader;
}

/* Several remedies are kept if they surely gain more together than the best one. */
const struct try_trial *tries__best(const struct tries *t)
{
	const struct try_trial *best = best_single(t);
	struct qz_judgement j;

	if (!best || !t->together.n || !tries__helps(t, &t->together))
		return best;
	j = tries__judge(t, &t->together);
	return j.gain - j.ci > tries__judge(t, best).gain ? &t->together : best;
}
