/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether a remedy helps. Each pair is a run with the remedy and one without, next to each
 * other in time. The value of a pair is the ratio of the two elapsed times; the value of a remedy
 * is the median of its pairs. The noise is estimated from the pairs of all remedies together
 * (core/remedies/noise.h): the median distance or the root of squares, whichever is larger. Many
 * remedies are tried, so the intervals are wide enough that all of them hold at once in 95 of 100
 * cases. A gain of less than 3 % does not count.
 */
#ifndef QUARTZ_CORE_JUDGE_H
#define QUARTZ_CORE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/remedies/noise.h"

#define QZ_JUDGE_PAIRS QZ_NOISE_VALUES
#define QZ_JUDGE_LEAST 3 /* pairs; with fewer there is no verdict */

struct qz_pairs {
	uint32_t n;
	double ratio[QZ_JUDGE_PAIRS]; /* elapsed time with the remedy / without */
};

enum qz_judged {
	QZ_JUDGED_UNKNOWN,
	QZ_JUDGED_HELPS,
	QZ_JUDGED_NOTHING, /* less than 5 % in either direction */
	QZ_JUDGED_HARMS,
	QZ_JUDGES,
};

struct qz_judgement {
	enum qz_judged verdict;
	double gain; /* share of the elapsed time; 0.4: a run takes 0.6 times as long; 0: no pair */
	double ci; /* half of its interval, the wider half; < 0: not known, or wider than the time itself */
	bool enough; /* more pairs would hardly change the verdict */
};

/* Adds a pair, nanoseconds, if there is room. */
void qz_pairs__add(struct qz_pairs *p, uint64_t with_ns, uint64_t without_ns);

/* Judges remedy `one` of n. `tried` is the number of verdicts in all, at least n. */
struct qz_judgement qz_judge__of(const struct qz_pairs *const *all, uint32_t n, uint32_t one,
				 uint32_t tried);

/* "helps", "does nothing", "harms" or "not known". */
const char *qz_judge__name(enum qz_judged verdict);

#endif
