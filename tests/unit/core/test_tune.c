/* SPDX-License-Identifier: GPL-2.0-only */
/* The search for the best setting, on functions whose best setting is known, with noise that is the same each time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/tune/tune.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

#define MOST_SETTINGS 64
#define RUNS	      3
#define TRIALS	      12
#define SEEDS	      10

typedef double cost_function(uint32_t setting, uint32_t n);

struct world {
	cost_function *cost;
	double noise; /* relative, standard deviation of one run */
	uint64_t state;
	uint32_t runs; /* in each trial; 0: the usual number */
	uint32_t trials;
};

/* Sums of twelve even numbers are normal enough; splitmix64. */
static double even(struct world *w)
{
	uint64_t z = w->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((z ^ z >> 31) >> 11) / (double)(1ull << 53);
}

static double normal(struct world *w)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += even(w);
	return sum;
}

/* A pool: more threads help up to eight processors, then each one costs a little. */
static double pool(uint32_t setting, uint32_t n)
{
	double threads = setting + 1.0;

	(void)n;
	return threads <= 8 ? 1 + 10 / threads : 1 + 10.0 / 8 + 0.06 * (threads - 8);
}

/* The best one is at an end. */
static double falling(uint32_t setting, uint32_t n)
{
	return 1 + 4.0 * (n - 1 - setting) / n;
}

static double flat(uint32_t setting, uint32_t n)
{
	(void)setting;
	(void)n;
	return 3;
}

/* Runs the search; gives the setting that it chose. */
static uint32_t search(struct world *w, uint32_t n, uint32_t start)
{
	static char texts[MOST_SETTINGS][16];
	const char *names[MOST_SETTINGS];
	double positions[MOST_SETTINGS], costs[RUNS];
	uint32_t runs = w->runs ? w->runs : RUNS;
	struct qz_tune_result r;
	struct qz_tune_step step;
	struct qz_tune *t;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%u", i + 1);
		names[i] = texts[i];
		positions[i] = log(i + 1.0);
	}
	t = qz_tune__new(names, positions, n, start, TRIALS);
	ck_assert_ptr_nonnull(t);
	while (qz_tune__next(t, &step)) {
		ck_assert_uint_lt(step.setting, n);
		ck_assert_int_ne(step.why[0], '\0');
		for (uint32_t i = 0; i < runs; i++)
			costs[i] = w->cost(step.setting, n) * (1 + w->noise * normal(w));
		qz_tune__tell(t, step.setting, costs, runs);
	}
	w->trials = t->trials;
	r = qz_tune__result(t);
	qz_tune__free(t);
	return r.setting;
}

static double least_of(cost_function *cost, uint32_t n)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		least = fmin(least, cost(i, n));
	return least;
}

/* From how many of ten starts it finds what costs at most 3 % more than the best one. */
static uint32_t found(cost_function *cost, double noise, uint32_t n, uint64_t seed)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < 10; i++) {
		struct world w = {cost, noise, seed * 1000 + i, 0, 0};
		uint32_t start = i * (n - 1) / 9, chosen = search(&w, n, start);

		ck_assert_uint_le(w.trials, TRIALS);
		good += cost(chosen, n) <= 1.03 * least_of(cost, n);
		/* whatever it finds */
		ck_assert(cost(chosen, n) <= 1.001 * cost(start, n));
	}
	return good;
}

START_TEST(finds_the_best_size_of_a_pool)
{
	ck_assert_uint_ge(found(pool, 0.02, 32, (uint64_t)_i), 9);
}
END_TEST

START_TEST(finds_what_is_at_an_end)
{
	ck_assert_uint_ge(found(falling, 0.02, 16, (uint64_t)_i), 9);
}
END_TEST

START_TEST(tries_all_of_few)
{
	ck_assert_uint_ge(found(pool, 0.02, 6, (uint64_t)_i), 9);
}
END_TEST

/* Where nothing makes a difference, it is left as it was, but for one case in twenty. */
START_TEST(chance_is_no_gain)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < 100; i++) {
		struct world w = {flat, 0.05, 77000 + i, 0, 0};

		moved += search(&w, 32, 12) != 12;
	}
	ck_assert_uint_le(moved, 15);
}
END_TEST

/* With one run in each trial nothing is known of chance, until something was measured twice. */
START_TEST(one_run_each_is_not_taken_for_certain)
{
	uint32_t moved = 0, better = 0;

	for (uint32_t i = 0; i < 200; i++) {
		struct world w = {flat, 0.05, 99000 + i, 1, 0};

		moved += search(&w, i % 2 ? 32 : 4, 2) != 2;
		w = (struct world) {pool, 0.02, 99000 + i, 1, 0};
		better += pool(search(&w, 32, 0), 32) <= 1.1 * least_of(pool, 32);
	}
	ck_assert_uint_le(moved, 20);
	ck_assert_uint_ge(better, 180);
}
END_TEST

/* There is no time for a second run of anything, or for that of one setting only: one distance tells nothing of chance. */
START_TEST(without_a_second_run_the_start_stays)
{
	const char *const names[] = {"1", "2", "3"};
	const double positions[] = {1, 2, 3};
	struct qz_tune *t = qz_tune__new(names, positions, 3, 0, 3);
	struct qz_tune_result r;
	struct qz_tune_step step;

	while (qz_tune__next(t, &step)) {
		const double costs[] = {10.0 - step.setting, 10.01 - step.setting};

		qz_tune__tell(t, step.setting, costs, _i && step.setting == 0 ? 2 : 1);
	}
	r = qz_tune__result(t);
	ck_assert_uint_eq(r.best, 2);
	ck_assert_uint_eq(r.setting, 0);
	ck_assert(r.gain_ci < 0);
	qz_tune__free(t);
}
END_TEST

START_TEST(what_has_no_order_is_tried_as_a_whole)
{
	const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	const double positions[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct qz_tune *t = qz_tune__new(names, positions, 8, 0, TRIALS);
	struct qz_tune_step step;

	t->unordered = true;
	while (qz_tune__next(t, &step)) {
		const double costs[] = {step.setting == 6 ? 1 : 5, step.setting == 6 ? 1.001 : 5};

		qz_tune__tell(t, step.setting, costs, 2);
	}
	ck_assert_uint_eq(qz_tune__result(t).setting, 6);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_ge(t->settings[i].trials, 1);
	qz_tune__free(t);
}
END_TEST

START_TEST(without_noise_it_is_exact)
{
	struct world w = {pool, 0, 1, 0, 0};

	ck_assert_uint_eq(search(&w, 32, 31), 7);
	ck_assert_uint_eq(search(&w, 32, 0), 7);
	ck_assert_uint_eq(search(&w, 1, 0), 0);
	ck_assert_uint_eq(search(&w, 2, 0), 1);
}
END_TEST

/* Settings that fail are neither chosen nor tried again; one that is the start ends the search. */
START_TEST(what_fails_is_not_chosen)
{
	const char *const names[] = {"1", "2", "3", "4"};
	const double positions[] = {1, 2, 3, 4};
	struct qz_tune *t = qz_tune__new(names, positions, 4, 0, TRIALS);
	struct qz_tune_step step;
	uint32_t trials[4] = {0};

	while (qz_tune__next(t, &step)) {
		const double costs[] = {10 - step.setting, 10 - step.setting};

		trials[step.setting]++;
		qz_tune__tell(t, step.setting, costs, step.setting > 1 ? 0 : 2);
	}
	ck_assert_uint_eq(qz_tune__result(t).setting, 1);
	ck_assert_uint_eq(trials[2], 1);
	ck_assert_uint_eq(trials[3], 1);
	qz_tune__free(t);
	t = qz_tune__new(names, positions, 4, 2, TRIALS);
	ck_assert(qz_tune__next(t, &step));
	ck_assert_uint_eq(step.setting, 2);
	qz_tune__tell(t, 2, NULL, 0);
	ck_assert(!qz_tune__next(t, &step));
	qz_tune__free(t);
}
END_TEST

/* A start that fails later stays what others are compared with. */
START_TEST(a_start_that_fails_later_is_kept)
{
	const char *const names[] = {"1", "2"};
	const double positions[] = {1, 2};
	struct qz_tune *t = qz_tune__new(names, positions, 2, 0, TRIALS);
	const double costs[] = {10, 10.1}, less[] = {9.9, 10};
	struct qz_tune_result r;
	struct qz_tune_step step;
	uint32_t trials[2] = {1, 1};

	qz_tune__tell(t, 0, costs, 2);
	qz_tune__tell(t, 1, less, 2);
	while (qz_tune__next(t, &step)) {
		trials[step.setting]++;
		qz_tune__tell(t, step.setting, less, step.setting ? 2 : 0);
	}
	ck_assert_uint_gt(trials[0], 1);
	ck_assert_uint_le(trials[0] + trials[1], 8);
	r = qz_tune__result(t);
	ck_assert(isfinite(r.start_cost) && isfinite(r.gain));
	ck_assert_uint_eq(r.setting, 0);
	qz_tune__free(t);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	const double position = 0;
	const char *name = "x";
	bool done = false;

	for (unsigned int n = 1; !done; n++) {
		struct qz_tune *t;

		failing__arm(n);
		t = qz_tune__new(&name, &position, 1, 0, 1);
		done = t;
		ck_assert(failing__disarm() != done);
		qz_tune__free(t);
	}
}
END_TEST

Suite *suite_tune(void)
{
	Suite *s = suite_create("tune");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, finds_the_best_size_of_a_pool, 0, SEEDS);
	tcase_add_loop_test(tc, finds_what_is_at_an_end, 0, SEEDS);
	tcase_add_loop_test(tc, tries_all_of_few, 0, SEEDS);
	tcase_add_test(tc, chance_is_no_gain);
	tcase_add_test(tc, one_run_each_is_not_taken_for_certain);
	tcase_add_loop_test(tc, without_a_second_run_the_start_stays, 0, 2);
	tcase_add_test(tc, what_has_no_order_is_tried_as_a_whole);
	tcase_add_test(tc, without_noise_it_is_exact);
	tcase_add_test(tc, what_fails_is_not_chosen);
	tcase_add_test(tc, a_start_that_fails_later_is_kept);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
