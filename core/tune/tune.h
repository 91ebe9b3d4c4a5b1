/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Searches the setting of one knob with the lowest cost, where each measurement takes time and has noise. The caller
 * measures: it asks for the next step, and reports what it cost, until there is none.
 *
 * A trial is one setting, measured by some runs. The search begins with the start, then narrows down the settings by golden
 * section, which takes the cost to fall up to the best setting and to rise after it; of two that differ by less than chance,
 * it goes on towards the lower one. The remaining trials go to the neighbours of the best one, and to the best ones again,
 * while they differ by less than the noise (successive halving). If there are few settings, all are measured instead.
 *
 * The result is the start, unless another one is better by more than chance. If each trial is one run, the best one and the
 * start are measured again, because the noise cannot be estimated otherwise.
 */
#ifndef QUARTZ_CORE_TUNE_H
#define QUARTZ_CORE_TUNE_H

#include <stdbool.h>
#include <stdint.h>

/* Costs that are measured of a setting at most. */
#define QZ_TUNE_COSTS 32

struct qz_tune_setting {
	const char *name; /* borrowed */
	double position;  /* its place among others: its value, or the logarithm of that */
	uint32_t trials;  /* measured so far */
	uint32_t n;	  /* costs */
	double costs[QZ_TUNE_COSTS];
	bool failed; /* it cannot be used */
};

struct qz_tune {
	uint32_t n, start; /* settings, ascending by position */
	struct qz_tune_setting *settings;
	uint32_t trials, most; /* done, and at most */
	uint32_t lo, hi;       /* what is left of the settings for the golden section */
	bool narrowed;	       /* golden section has ended */
	bool unordered; /* settings have no order: all are tried. For the caller to set, before the first step */
	double *distances; /* room for those of all costs from their medians */
};

struct qz_tune_step {
	uint32_t setting;
	char why[128];
};

struct qz_tune_result {
	uint32_t setting;	 /* to be used: the best, or the start */
	uint32_t best;		 /* with the least cost */
	double start_cost, cost; /* medians; of the setting to be used */
	double gain,
		gain_ci; /* of the best over the start, and how much of it may be chance, < 0: unknown */
};

/* NULL with ENOMEM. At least one setting and one trial. Settings are given by name and position, ascending. */
struct qz_tune *qz_tune__new(const char *const *names, const double *positions, uint32_t n,
			     uint32_t start, uint32_t most);
void qz_tune__free(struct qz_tune *t);

/* False: there is nothing more to be measured. */
bool qz_tune__next(struct qz_tune *t, struct qz_tune_step *step);

/*
 * What the runs of a trial have cost, n >= 1; n 0: the setting cannot be used. Not even then is the start given up, once it was
 * measured: there is nothing else to compare with, and to go back to.
 */
void qz_tune__tell(struct qz_tune *t, uint32_t setting, const double *costs, uint32_t n);

/* Of what was measured; the start must have been. */
struct qz_tune_result qz_tune__result(const struct qz_tune *t);

/* The median of its costs; INFINITY where there is none. */
double qz_tune__cost(const struct qz_tune_setting *s);

#endif
