/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * By how much medians of a few measurements differ by chance, where several things were measured a few times each: chance is
 * the same for all of them, relative to their size, so that it is estimated from all together.
 */
#ifndef QUARTZ_CORE_NOISE_H
#define QUARTZ_CORE_NOISE_H

#include <stdint.h>

struct qz_noise {
	double deviation; /* standard deviation of the logarithm of one measurement: about that of itself, relative */
	uint32_t n; /* measurements that it is known by; 0: it is not known */
};

/* Of n >= 1 values, at most QZ_NOISE_VALUES. */
#define QZ_NOISE_VALUES 32
double qz_noise__median(const double *values, uint32_t n);

/*
 * Adds the distances of n >= 1 values above 0 from their median, as logarithms, so that half and twice are as far from it, and
 * without one of them, which is the median itself. Gives how many were added, n - 1.
 */
uint32_t qz_noise__add(const double *values, uint32_t n, double *distances);

/* By the median distance, so that some measurements that were disturbed do not count. Sorts the distances. */
struct qz_noise qz_noise__of(double *distances, uint32_t n);

/* By their squares instead, so that each disturbance does count, as one of `most` at most. */
struct qz_noise qz_noise__of_squares(const double *distances, uint32_t n, double most);

/* So many standard deviations are exceeded to either side with this chance, above 0 and below 1. */
double qz_noise__deviations(double chance);

/* So many standard deviations that are known by n measurements only: Student's distribution, by Fisher's expansion. */
double qz_noise__widened(double deviations, double n);

/* Half of the interval of the median of n >= 1 measurements, so many standard deviations; of its logarithm. */
double qz_noise__width(const struct qz_noise *noise, double deviations, double n);

#endif
