/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NQUANTILES 30

/* Of 1 to 30 degrees of freedom. */
static const double quantiles[NQUANTILES] = {
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
	2.2010,	 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
	2.0796,	 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
};

double qz_statistics__student(double freedom)
{
	const double z = QZ_Z_95;

	if (!(freedom >= 2))
		return quantiles[0];
	if (freedom < NQUANTILES + 1)
		return quantiles[(int)freedom - 1];
	/* the first term of the series of Fisher and Cornish; wrong by less than 0.001 from here on */
	return z + (z * z * z + z) / (4 * floor(freedom));
}

int qz_statistics__compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

double qz_statistics__median(const double *values, uint32_t n, double *sorted)
{
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), qz_statistics__compare);
	return sorted[n / 2] / 2 + sorted[(n - 1) / 2] / 2;
}
