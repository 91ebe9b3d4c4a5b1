/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics for several estimates. */
#ifndef QUARTZ_CORE_STATISTICS_H
#define QUARTZ_CORE_STATISTICS_H

#include <stdint.h>

/* The 97.5 % quantile of the normal distribution. */
#define QZ_Z_95 1.959964

/* How much wider the interval of a median is than that of a mean, of values that scatter normally. */
#define QZ_MEDIAN_TO_MEAN 1.2533

/* Ascending, for qsort(3). */
int qz_statistics__compare(const void *x, const void *y);

/* Of n >= 1 values, which are in ascending order in `sorted` then. */
double qz_statistics__median(const double *values, uint32_t n, double *sorted);

/* The 97.5 % quantile of Student's t with so many degrees of freedom, at least 1; fractions are cut off. */
double qz_statistics__student(double freedom);

#endif
