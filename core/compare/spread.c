/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/compare/spread.h"

#include <math.h>

#include "core/util/statistics.h"

static double mean_of(const struct qz_values *v)
{
	double sum = 0;

	for (uint32_t i = 0; i < v->n; i++)
		sum += v->value[i];
	return sum / v->n;
}

/* Half of the interval of the mean, by sampling. */
static double sampling_of(const struct qz_values *v)
{
	double square = 0;

	for (uint32_t i = 0; i < v->n; i++)
		square += v->ci[i] * v->ci[i];
	return sqrt(square) / v->n;
}

/* Of one run, n >= 2. */
static double variance_of(const struct qz_values *v, double mean)
{
	double square = 0;

	for (uint32_t i = 0; i < v->n; i++)
		square += (v->value[i] - mean) * (v->value[i] - mean);
	return square / (v->n - 1);
}

static double spread_of(const struct qz_values *a, double mean_a, const struct qz_values *b,
			double mean_b)
{
	double va, vb, freedom;

	if (a->n == 1 && b->n == 1)
		return 0;
	va = a->n > 1 ? variance_of(a, mean_a) : variance_of(b, mean_b);
	vb = b->n > 1 ? variance_of(b, mean_b) : va;
	va /= a->n;
	vb /= b->n;
	if (!(va + vb > 0))
		return 0;
	if (a->n == 1 || b->n == 1)
		freedom = (double)a->n + b->n - 2;
	else
		freedom = (va + vb) * (va + vb) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	return qz_statistics__student(freedom) * sqrt(va + vb);
}

struct qz_change qz_spread__change(const struct qz_values *before, const struct qz_values *after)
{
	struct qz_change c = {mean_of(before), mean_of(after), 0};
	double sampling = hypot(sampling_of(before), sampling_of(after));
	double spread = spread_of(before, c.before, after, c.after);

	c.ci = spread > sampling ? spread : sampling;
	return c;
}

bool qz_change__is_certain(const struct qz_change *c)
{
	return fabs(qz_change__of(c)) > c->ci;
}
