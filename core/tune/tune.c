/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "core/tune/noise.h"

#define GOLDEN	    0.381966 /* the smaller part of the golden section */
#define INDIFFERENT 0.01     /* of the cost: who cares which of two is better */
#define MOST_AGAIN  4	     /* trials of one setting */
#define MANY	    8	     /* trials, of which some are for what is to be told at the end */
#define NONE	    UINT32_MAX

#define LIKELY 1.96 /* standard deviations: two settings differ, once in twenty by chance */
#define SURE   2.6  /* the same for the best of several against the start */

struct qz_tune *qz_tune__new(const char *const *names, const double *positions, uint32_t n,
			     uint32_t start, uint32_t most)
{
	struct qz_tune *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->settings = calloc(n, sizeof(*t->settings));
	t->distances = calloc(n, QZ_TUNE_COSTS * sizeof(*t->distances));
	if (!t->settings || !t->distances) {
		qz_tune__free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		t->settings[i] =
			(struct qz_tune_setting) {.name = names[i], .position = positions[i]};
	t->n = n;
	t->start = start;
	t->most = most;
	t->hi = n - 1;
	return t;
}

void qz_tune__free(struct qz_tune *t)
{
	if (!t)
		return;
	free(t->settings);
	free(t->distances);
	free(t);
}

/* ---- costs ---- */

double qz_tune__cost(const struct qz_tune_setting *s)
{
	return s->n && !s->failed ? qz_noise__median(s->costs, s->n) : INFINITY;
}

static double cost_of(const struct qz_tune *t, uint32_t i)
{
	return qz_tune__cost(&t->settings[i]);
}

static bool is_measured(const struct qz_tune *t, uint32_t i)
{
	return t->settings[i].trials;
}

/* Of one run of any setting; unknown where each setting has one run only. */
static struct qz_noise noise_of(const struct qz_tune *t)
{
	double *distances = t->distances;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->settings[i].n > 1 && !t->settings[i].failed)
			n += qz_noise__add(t->settings[i].costs, t->settings[i].n, distances + n);
	return qz_noise__of(distances, n);
}

/*
 * By how much the medians of two settings may differ by chance, so many standard deviations; relative. Before any
 * setting has two runs, the search takes chance for 0. No difference is sure by one distance between two runs.
 */
static double width_of(const struct qz_tune *t, const struct qz_tune_setting *x,
		       const struct qz_tune_setting *y, double deviations)
{
	struct qz_noise noise = noise_of(t);

	if (noise.n < (deviations >= SURE ? 2 : 1))
		return deviations >= SURE ? INFINITY : 0;
	if (deviations >= SURE)
		deviations = qz_noise__widened(deviations, noise.n);
	return qz_noise__width(&noise, deviations, 1 / (1.0 / x->n + 1.0 / y->n));
}

/* Whether the cost of a is less than that of b by more than chance; a setting that failed costs more than any. */
static bool is_below(const struct qz_tune *t, uint32_t a, uint32_t b, double deviations)
{
	const struct qz_tune_setting *x = &t->settings[a], *y = &t->settings[b];
	double ca = qz_tune__cost(x), cb = qz_tune__cost(y);

	if (!isfinite(ca) || !isfinite(cb))
		return ca < cb;
	return ca < cb && cb - ca > width_of(t, x, y, deviations) * cb;
}

static bool is_less(const struct qz_tune *t, uint32_t a, uint32_t b)
{
	return is_below(t, a, b, LIKELY);
}

/* Whether which of both is better is known, or does not matter. */
static bool are_apart(const struct qz_tune *t, uint32_t a, uint32_t b)
{
	const struct qz_tune_setting *x = &t->settings[a], *y = &t->settings[b];
	double ca = qz_tune__cost(x), cb = qz_tune__cost(y);

	if (is_less(t, a, b) || is_less(t, b, a) || !isfinite(ca) || !isfinite(cb))
		return true;
	return x->trials > 1 && y->trials > 1 && fabs(ca - cb) < INDIFFERENT * fmin(ca, cb);
}

/* The measured one with the least cost; the first of equals. */
static uint32_t best_of(const struct qz_tune *t)
{
	uint32_t best = t->start;

	for (uint32_t i = 0; i < t->n; i++)
		if (is_measured(t, i) && cost_of(t, i) < cost_of(t, best))
			best = i;
	return best;
}

/* ---- steps ---- */

static bool step_to(struct qz_tune_step *step, uint32_t setting)
{
	step->setting = setting;
	return true;
}

/* The setting next to this position, strictly between two others. */
static uint32_t nearest(const struct qz_tune *t, uint32_t lo, uint32_t hi, double position)
{
	uint32_t found = lo + 1;

	for (uint32_t i = lo + 1; i < hi; i++)
		if (fabs(t->settings[i].position - position) <
		    fabs(t->settings[found].position - position))
			found = i;
	return found;
}

/*
 * The two inner points of what is left, of which one was measured before as a rule, since each part of a golden section has
 * the other point in its place; near to where it should be will do.
 */
static void choose_points(const struct qz_tune *t, uint32_t *a, uint32_t *b)
{
	double from = t->settings[t->lo].position, span = t->settings[t->hi].position - from;

	*a = nearest(t, t->lo, t->hi, from + GOLDEN * span);
	*b = nearest(t, t->lo, t->hi, from + (1 - GOLDEN) * span);
	if (*a == *b && *b + 1 < t->hi)
		++*b;
	else if (*a == *b)
		--*a;
}

static bool narrow(struct qz_tune *t, struct qz_tune_step *step)
{
	while (t->hi - t->lo > 3) {
		uint32_t a, b;

		choose_points(t, &a, &b);
		if (!is_measured(t, a) || !is_measured(t, b)) {
			snprintf(step->why, sizeof(step->why), "golden section of %s to %s",
				 t->settings[t->lo].name, t->settings[t->hi].name);
			return step_to(step, is_measured(t, a) ? b : a);
		}
		if (is_less(t, b, a))
			t->lo = a;
		else
			t->hi = b;
	}
	t->narrowed = true;
	return false;
}

/* What golden section has left, and then the neighbours of the best one. */
static bool look_around(const struct qz_tune *t, struct qz_tune_step *step)
{
	uint32_t best = best_of(t);

	for (uint32_t i = t->lo; i <= t->hi; i++)
		if (!is_measured(t, i) && i + 2 > best && i < best + 2) {
			snprintf(step->why, sizeof(step->why), "beside %s, the best so far",
				 t->settings[best].name);
			return step_to(step, i);
		}
	for (uint32_t i = t->lo; i <= t->hi; i++)
		if (!is_measured(t, i)) {
			snprintf(step->why, sizeof(step->why), "left between %s and %s",
				 t->settings[t->lo].name, t->settings[t->hi].name);
			return step_to(step, i);
		}
	for (uint32_t i = best ? best - 1 : 0; i <= best + 1 && i < t->n; i++)
		if (!is_measured(t, i)) {
			snprintf(step->why, sizeof(step->why), "beside %s, the best so far",
				 t->settings[best].name);
			return step_to(step, i);
		}
	return false;
}

static bool has_room(const struct qz_tune *t, uint32_t i)
{
	const struct qz_tune_setting *s = &t->settings[i];

	return s->trials < MOST_AGAIN && s->n + s->n / s->trials <= QZ_TUNE_COSTS;
}

/* The one that is next to the best in cost, and not apart from it. */
static uint32_t rival_of(const struct qz_tune *t, uint32_t best)
{
	uint32_t rival = NONE;

	for (uint32_t i = 0; i < t->n; i++) {
		if (i == best || !is_measured(t, i) || are_apart(t, best, i))
			continue;
		if (!has_room(t, best) && !has_room(t, i))
			continue;
		if (rival == NONE || cost_of(t, i) < cost_of(t, rival))
			rival = i;
	}
	return rival;
}

/* A trial of the best one or of the start, whichever has fewer, to tell which of them is to be used. */
static bool compare_with_start(const struct qz_tune *t, uint32_t best, struct qz_tune_step *step)
{
	uint32_t less = t->settings[best].trials < t->settings[t->start].trials ? best : t->start;

	if (!has_room(t, less))
		less = less == best ? t->start : best;
	if (!has_room(t, less))
		return false;
	snprintf(step->why, sizeof(step->why), "again: is %s better than %s, the start?",
		 t->settings[best].name, t->settings[t->start].name);
	return step_to(step, less);
}

/* Whether the best one is to be used instead, which more trials may show. */
static bool check_start(const struct qz_tune *t, struct qz_tune_step *step)
{
	uint32_t best = best_of(t);

	return best != t->start && !is_below(t, best, t->start, SURE) &&
	       compare_with_start(t, best, step);
}

/*
 * Trials that are lacking until the best one and the start were each measured twice, some time apart: what disturbs a trial
 * disturbs all of its runs, so that they differ by less than trials do.
 */
static uint32_t unconfirmed(const struct qz_tune *t)
{
	uint32_t best = best_of(t);

	return best == t->start
		       ? 0
		       : (t->settings[best].trials < 2) + (t->settings[t->start].trials < 2);
}

static bool confirm(const struct qz_tune *t, struct qz_tune_step *step)
{
	return unconfirmed(t) && compare_with_start(t, best_of(t), step);
}

/* The last trials are for that, unless there are so few that each is better spent on another value. */
static bool must_confirm(const struct qz_tune *t)
{
	return t->most >= MANY && t->most - t->trials <= unconfirmed(t);
}

static bool measure_again(const struct qz_tune *t, struct qz_tune_step *step)
{
	uint32_t best = best_of(t), rival = rival_of(t, best), less;

	if (check_start(t, step))
		return true;
	if (rival == NONE)
		return confirm(t, step);
	less = t->settings[rival].trials < t->settings[best].trials ? rival : best;
	if (!has_room(t, less))
		less = less == best ? rival : best;
	snprintf(step->why, sizeof(step->why), "again: %s and %s differ by less than chance",
		 t->settings[best].name, t->settings[rival].name);
	return step_to(step, less);
}

/* Few settings need no search. */
static bool measure_all(const struct qz_tune *t, struct qz_tune_step *step)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!is_measured(t, i)) {
			snprintf(step->why, sizeof(step->why), "one of %u, all of which are tried",
				 t->n);
			return step_to(step, i);
		}
	return false;
}

bool qz_tune__next(struct qz_tune *t, struct qz_tune_step *step)
{
	*step = (struct qz_tune_step) {0};
	if (t->trials >= t->most)
		return false;
	if (!is_measured(t, t->start)) {
		snprintf(step->why, sizeof(step->why), "the start");
		return step_to(step, t->start);
	}
	if (t->settings[t->start].failed)
		return false;
	if (must_confirm(t) && confirm(t, step))
		return true;
	if (t->n <= t->most / 2 || t->unordered)
		return measure_all(t, step) || measure_again(t, step);
	if (!t->narrowed && narrow(t, step))
		return true;
	return look_around(t, step) || measure_again(t, step);
}

void qz_tune__tell(struct qz_tune *t, uint32_t setting, const double *costs, uint32_t n)
{
	struct qz_tune_setting *s = &t->settings[setting];

	t->trials++;
	s->trials++;
	if (setting != t->start || !s->n)
		s->failed |= !n;
	for (uint32_t i = 0; i < n && s->n < QZ_TUNE_COSTS; i++)
		s->costs[s->n++] = costs[i];
}

/* ---- the result ---- */

struct qz_tune_result qz_tune__result(const struct qz_tune *t)
{
	const struct qz_tune_setting *start = &t->settings[t->start];
	struct qz_tune_result r = {.setting = t->start, .best = best_of(t)};
	const struct qz_tune_setting *best = &t->settings[r.best];

	r.start_cost = qz_tune__cost(start);
	r.cost = r.start_cost;
	if (best == start)
		return r;
	r.gain = r.start_cost - qz_tune__cost(best);
	r.gain_ci = width_of(t, best, start, SURE) * r.start_cost;
	r.gain_ci = isfinite(r.gain_ci) ? r.gain_ci : -1;
	if (!is_below(t, r.best, t->start, SURE))
		return r;
	r.setting = r.best;
	r.cost = qz_tune__cost(best);
	return r;
}
