/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The change of one figure between two sides of one or more runs each, with its 95 % interval.
 *
 * Two things make it uncertain. Sampling: each run has its own half width c, that of a mean of n runs is
 * sqrt(sum of c^2) / n, and that of a difference sqrt(a^2 + b^2). And runs differ: with the variance v of a mean,
 * estimated from the spread of the runs, the half width is t * sqrt(va + vb), where t is Student's for the degrees of
 * freedom of Welch and Satterthwaite. A side of one run is assumed to spread as much as the other one. The wider of the two
 * intervals counts. With one run on each side the spread is not known, and only sampling counts.
 */
#ifndef QUARTZ_CORE_COMPARE_SPREAD_H
#define QUARTZ_CORE_COMPARE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The figure in each of n >= 1 runs, and half of its interval there. */
struct qz_values {
	uint32_t n;
	const double *value, *ci;
};

struct qz_change {
	double before, after; /* means */
	double ci;	      /* half width of the interval of after - before; 0: exact */
};

struct qz_change qz_spread__change(const struct qz_values *before, const struct qz_values *after);

static inline double qz_change__of(const struct qz_change *c)
{
	return c->after - c->before;
}

/* Whether its interval does not include 0. */
bool qz_change__is_certain(const struct qz_change *c);

#endif
