/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The estimator: exact amounts from the accounting, shares from the samples.
 *
 * For a scope with E_n = level_ns[n] spent while n processors were busy, the processor time at level
 * n is T_n = n * E_n, and a procedure that holds a share s_n of the samples of that level has
 *
 *	normalized time = sum over n of (T_n / n) * s_n          (Quartz 1990, equation 1)
 *
 * so that the figures of all procedures add up to the elapsed time at level >= 1, whatever the
 * sampling rate (post-stratification). Where the rate has changed meanwhile, a sample that was taken at a
 * quarter of it counts for four: so the shares are those of all the time, in expectation, and not of
 * the time when samples were many.
 *
 * Which of the n running processors spin, only samples tell. Each of them, busy or spinning, says how
 * many were busy; so of E_n the part E_n,b = E_n * N_n,b / N_n passed with b busy processors, N_n,b
 * being the samples of level n that say so. The busy ones among these share E_n,b; that with b = 0 is
 * time in which nobody was busy. Processor time is shared among all samples of a level, spinning or
 * not. The figures then add up to the time with b >= 1, and without spinning nothing differs.
 */
#ifndef QUARTZ_CORE_ESTIMATE_H
#define QUARTZ_CORE_ESTIMATE_H

#include "core/profile.h"

/*
 * Splits `amount` over n counts in proportion, in whole units whose sum is exactly `amount`.
 * The sum of counts must not be 0. parts may not alias counts. Exact for any 64-bit values.
 */
void qz_apportion(uint64_t amount, const uint64_t *counts, size_t n, uint64_t *parts);

/*
 * Sets cpu_ns and norm_ns of every sample of p; those that spin have no norm_ns. A level that has time
 * but no sample gets one sample of count 0 in "[unattributed]" and of no thread; so does a part of a
 * level, 1 or more being busy, that has spinning samples only, and then its processor time is with
 * those. Idempotent: earlier unattributed samples are dropped first. -ENOMEM.
 */
int qz_profile__estimate(struct qz_profile *p);

/*
 * Samples by level. Of them, `weighted` ones are `seen` of the kernel's sampler, counted so many times
 * as the pollers saw more of the others (daemon/poll_join.h); NULL: none.
 */
struct qz_hits {
	const uint64_t *samples, *squares, *weighted, *seen;
};

/*
 * Half width of the 95 % interval of a sum over levels of amount[n] * share[n], where share[n] was
 * estimated as hits[n] of all[n] samples (multinomial within a level). Both are sums of weights, and
 * all.squares[n] is the sum of those of all samples squared: what they tell is what samples^2 / squares of
 * equal weight would. Where some are weighted, the kernel's samples tell how much is polled at all, and the
 * polled ones divide that (two-phase sampling); squares and seen of hits are not used. Levels without
 * samples add their whole amount: nothing is known of them. Where hits are none or all of few samples, the variance
 * is taken at the Agresti-Coull estimate, so that the interval is never falsely 0.
 * square is a variance to be added: see core/view.c.
 * Where hits[n] is 0 on every level and square is 0 the result is 0: such a row is not in the list.
 */
double qz_half_width(const uint64_t *amount, const struct qz_hits *hits, const struct qz_hits *all,
		     size_t nlevels, double square);

#endif
