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
 * sampling rate (post-stratification). If the rate has changed, a sample at a quarter of the rate
 * counts for four. So the shares are, in expectation, those of the whole time, and not of the time
 * with more samples.
 *
 * Which of the n running processors spin is known only from samples. Each sample, busy or spinning,
 * says how many processors were busy. So of E_n, the part E_n,b = E_n * N_n,b / N_n was spent with b
 * busy processors, where N_n,b is the number of samples of level n that say so. The busy ones among
 * these share E_n,b; with b = 0, no thread was busy. Processor time is divided among all samples of a
 * level, spinning or not. The figures then add up to the time with b >= 1; without spinning they are
 * the same as above.
 */
#ifndef QUARTZ_CORE_ESTIMATE_H
#define QUARTZ_CORE_ESTIMATE_H

#include "core/model/profile.h"

/*
 * Splits `amount` over n counts in proportion, in whole units whose sum is exactly `amount`.
 * The sum of counts must not be 0. parts may not alias counts. Exact for any 64-bit values.
 */
void qz_estimate__apportion(uint64_t amount, const uint64_t *counts, size_t n, uint64_t *parts);

/*
 * Sets cpu_ns and norm_ns of every sample of p; spinning samples have no norm_ns. A level with time but
 * without samples gets one sample of count 0 in "[unattributed]", without a thread. So does a part of
 * a level with 1 or more busy processors that has only spinning samples; its processor time belongs
 * to these. Idempotent: earlier unattributed samples are dropped first. -ENOMEM.
 */
int qz_estimate__profile(struct qz_profile *p);

/*
 * Samples by level. `weighted` of them come from `seen` samples of the kernel's sampler, with the
 * weight by which the pollers saw more of the others (daemon/shm/poll_join.h); NULL: none.
 */
struct qz_hits {
	const uint64_t *samples, *squares, *weighted, *seen;
};

/*
 * Half width of the 95 % interval of a sum over levels of amount[n] * share[n], where share[n] was
 * estimated as hits[n] of all[n] samples (multinomial within a level). Both are sums of weights, and
 * all.squares[n] is the sum of the squared weights: the effective number of samples is samples^2 /
 * squares. If some are weighted, the kernel's samples estimate how much is polled at all, and the
 * polled ones divide that (two-phase sampling); squares and seen of hits are not used. Levels without
 * samples add their whole amount, because nothing is known about them. If hits are none or all of few
 * samples, the variance is that of the Agresti-Coull estimate, so that the interval is never falsely
 * 0. `square` is a variance to be added, see core/report/figure.c. If hits[n] is 0 on every level and
 * square is 0, the result is 0: such a row is not in the list.
 */
double qz_estimate__half_width(const uint64_t *amount, const struct qz_hits *hits,
			       const struct qz_hits *all, size_t nlevels, double square);

/* The same for the share that `hits` of all samples have of one amount; not 0 without a hit. */
uint64_t qz_share_half_width(uint64_t amount, uint64_t hits, uint64_t samples);

/*
 * A figure with fewer samples is marked wherever it is shown: half of its 95 % interval, 2 /
 * sqrt(samples) of it, is more than half of the figure.
 */
#define QZ_FEW_SAMPLES 16

/*
 * Samples per second and processor: the rate in force at the end of a run, and the lowest rate of any
 * sample. Both are lower than the requested rate if that cost too much.
 */
double qz_profile__rate(const struct qz_profile *p);
double qz_profile__least_rate(const struct qz_profile *p);

#endif
