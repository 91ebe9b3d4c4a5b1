// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <string.h>

#include "core/model/levels.h"

/* What was counted so long ago has 1/e of its weight: some windows, lest other phases of a program get in. */
#define MEMORY 5e8 /* ns */
/* Of how steep the weights of levels may be, and how finely that is found. */
#define STEEPEST 64.0
#define HALVINGS 50

static uint64_t left(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

/* What is remembered: of all levels, and the highest one. */
struct memory {
	double all;
	uint32_t top;
};

/* Adds what was counted since the last completion. */
static struct memory remember(const struct qz_levels *l)
{
	uint64_t since = left(l->elapsed_ns, qz_levels__sum(l->before, l->n));
	double weight = exp(-(double)since / MEMORY);
	struct memory m = {0, 1};

	for (uint32_t i = 1; i < l->n; i++) {
		l->counted[i] *= weight;
		l->counted[i] += (double)i * (double)left(l->ns[i], l->before[i]);
		m.all += l->counted[i];
		if (l->counted[i] > 0)
			m.top = i;
	}
	return m;
}

static double share_of(const struct qz_levels *l, uint32_t level, const struct memory *m)
{
	if (m->all > 0)
		return l->counted[level] / m->all;
	return level == 1; /* nothing is known of it */
}

/* Time of each level relative to others, as counted, but the less the further it is below the highest one. */
static double weight_of(const struct qz_levels *l, uint32_t level, const struct memory *m,
			double slope)
{
	return share_of(l, level, m) / level * exp(-slope * ((double)m->top - level));
}

/* The mean level of these weights, which are of all but level 0. */
static double mean_level(const struct qz_levels *l, const struct memory *m, double slope)
{
	double weights = 0, cpu = 0;

	for (uint32_t i = 1; i < l->n; i++) {
		double weight = weight_of(l, i, m, slope);

		weights += weight;
		cpu += i * weight;
	}
	return weights > 0 ? cpu / weights : 0;
}

/* The slope with which the levels stand for all that is missing in `time`, or come as near to it as they can. */
static double find_slope(const struct qz_levels *l, const struct memory *m, double time)
{
	double low = 0, high = STEEPEST;

	for (int i = 0; i < HALVINGS; i++) {
		double slope = (low + high) / 2;

		if (mean_level(l, m, slope) * time < (double)l->missing_ns)
			low = slope;
		else
			high = slope;
	}
	return low;
}

/*
 * Gives the time that is left. Where what was counted would take more time than there is, levels have the weights that
 * differ least from it (in relative entropy) and take all of the time.
 */
static uint64_t divide(const struct qz_levels *l, uint64_t time, uint64_t *add)
{
	double wanted = 0, slope = 0, scale = (double)l->missing_ns;
	const struct memory m = remember(l);
	uint64_t rest = time;

	for (uint32_t i = 1; i < l->n; i++)
		wanted += scale * weight_of(l, i, &m, 0);
	if (wanted > (double)time) {
		double weights = 0;

		slope = find_slope(l, &m, (double)time);
		for (uint32_t i = 1; i < l->n; i++)
			weights += weight_of(l, i, &m, slope);
		scale = (double)time / weights;
	}
	for (uint32_t i = 1; i < l->n; i++) {
		double ns = scale * weight_of(l, i, &m, slope);

		add[i] = ns < (double)rest ? (uint64_t)ns : rest;
		rest -= add[i];
	}
	return rest;
}

/* Still more ran at once than were ever counted: moves the same part of each level to the next one. */
static void move_up(const struct qz_levels *l, uint64_t *add)
{
	for (uint32_t turn = 1; turn < l->n; turn++) {
		uint64_t below = qz_levels__sum(add + 1, l->n - 2);
		uint64_t cpu = qz_levels__cpu(add, l->n);
		double part;

		if (cpu >= l->missing_ns || !below)
			return;
		part = (double)(l->missing_ns - cpu) / (double)below;
		for (uint32_t i = l->n - 1; i > 1; i--) {
			uint64_t ns = part < 1 ? (uint64_t)(part * (double)add[i - 1]) : add[i - 1];

			add[i] += ns;
			add[i - 1] -= ns;
		}
	}
}

void qz_levels__complete(const struct qz_levels *l, uint64_t *add)
{
	memset(add, 0, l->n * sizeof(*add));
	add[0] = divide(l, left(l->elapsed_ns, qz_levels__sum(l->ns, l->n)), add);
	move_up(l, add);
	for (uint32_t i = 0; i < l->n; i++)
		l->ns[i] += add[i];
}
