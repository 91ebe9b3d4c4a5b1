/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates the noise of medians of a few measurements, if several things were measured a few times each: the relative
 * noise is assumed to be the same for all, so it is estimated from all together.
 */
#ifndef QUARTZ_CORE_NOISE_H
#define QUARTZ_CORE_NOISE_H

#include <stdint.h>

struct qz_noise {
	double deviation; /* standard deviation of the logarithm of one measurement: about that of itself, relative */
	uint32_t n; /* measurements on which the estimate rests; 0: not known */
};

/* Of n >= 1 values, at most QZ_NOISE_VALUES. */
#define QZ_NOISE_VALUES 32
double qz_noise__median(const double *values, uint32_t n);

/*
 * Adds the distances of n >= 1 values above 0 from their median, as logarithms, so that half and twice are as far from it, and
 * without one of them, which is the median itself. Returns how many were added, n - 1.
 */
uint32_t qz_noise__add(const double *values, uint32_t n, double *distances);

/* By the median distance, so that some measurements that were disturbed do not count. Sorts the distances. */
struct qz_noise qz_noise__of(double *distances, uint32_t n);

/* By the squares of the distances instead, so that each disturbance counts, but at most as `most`. */
struct qz_noise qz_noise__of_squares(const double *distances, uint32_t n, double most);

/* The number of standard deviations that is exceeded to either side with this probability, above 0 and below 1. */
double qz_noise__deviations(double chance);

/* The same for a deviation that is estimated from n measurements: Student's distribution, by Fisher's expansion. */
double qz_noise__widened(double deviations, double n);

/* Half of the interval of the median of n >= 1 measurements, so many standard deviations; of its logarithm. */
double qz_noise__width(const struct qz_noise *noise, double deviations, double n);

#endif
