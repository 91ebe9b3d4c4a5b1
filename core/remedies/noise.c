/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/noise.h"

#include <math.h>
#include <stdlib.h>

#include "core/util/statistics.h"

#define NORMAL_MEDIAN	0.6745 /* standard deviations that half of all values are within */
#define MOST_DEVIATIONS 40     /* no double is as small as the chance of more */

double qz_noise__median(const double *values, uint32_t n)
{
	double sorted[QZ_NOISE_VALUES];

	return qz_statistics__median(values, n, sorted);
}

uint32_t qz_noise__add(const double *values, uint32_t n, double *distances)
{
	double median = qz_noise__median(values, n);
	uint32_t nearest = 0;

	for (uint32_t k = 0; k < n; k++) {
		distances[k] = fabs(log(values[k] / median));
		nearest = distances[k] < distances[nearest] ? k : nearest;
	}
	distances[nearest] = distances[n - 1];
	return n - 1;
}

struct qz_noise qz_noise__of(double *distances, uint32_t n)
{
	if (n)
		qsort(distances, n, sizeof(*distances), qz_statistics__compare);
	return (struct qz_noise) {.deviation = n ? distances[n / 2] / NORMAL_MEDIAN : 0, .n = n};
}

struct qz_noise qz_noise__of_squares(const double *distances, uint32_t n, double most)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += fmin(distances[i], most) * fmin(distances[i], most);
	return (struct qz_noise) {.deviation = n ? sqrt(sum / n) : 0, .n = n};
}

double qz_noise__deviations(double chance)
{
	double low = 0, high = MOST_DEVIATIONS;

	for (int i = 0; i < 64; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double qz_noise__widened(double z, double n)
{
	double z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

double qz_noise__width(const struct qz_noise *noise, double deviations, double n)
{
	return deviations * QZ_MEDIAN_TO_MEAN * noise->deviation * sqrt(1 / n);
}
