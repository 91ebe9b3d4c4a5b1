/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50

/* ---- apportioning ---- */

static void assert_parts(uint64_t amount, const uint64_t *counts, const uint64_t *expected,
			 size_t n)
{
	uint64_t parts[8];

	qz_estimate__apportion(amount, counts, n, parts);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(parts[i], expected[i]);
}

START_TEST(apportion_rounds_as_it_goes)
{
	assert_parts(10, (uint64_t[]) {1, 1, 1}, (uint64_t[]) {3, 3, 4}, 3);
	assert_parts(2, (uint64_t[]) {1, 1, 1, 1}, (uint64_t[]) {0, 1, 0, 1}, 4);
	assert_parts(7, (uint64_t[]) {0, 5, 0}, (uint64_t[]) {0, 7, 0}, 3);
	assert_parts(0, (uint64_t[]) {3, 4}, (uint64_t[]) {0, 0}, 2);
	assert_parts(100, (uint64_t[]) {1, 3}, (uint64_t[]) {25, 75}, 2);
}
END_TEST

START_TEST(apportion_is_exact_at_the_extremes)
{
	const uint64_t max = UINT64_MAX;

	assert_parts(max, (uint64_t[]) {max}, (uint64_t[]) {max}, 1);
	assert_parts(max, (uint64_t[]) {1}, (uint64_t[]) {max}, 1);
	assert_parts(1, (uint64_t[]) {max, max}, (uint64_t[]) {0, 1}, 2);
	assert_parts(max, (uint64_t[]) {max, max}, (uint64_t[]) {max / 2, max / 2 + 1}, 2);
	assert_parts(max, (uint64_t[]) {max, 1}, (uint64_t[]) {max - 1, 1}, 2);
	assert_parts(max, (uint64_t[]) {max, max, max, max, max},
		     (uint64_t[]) {max / 5, max / 5, max / 5, max / 5, max / 5}, 5);
}
END_TEST

/* Parts sum to the amount, and each is within one unit of its share. */
START_TEST(apportion_conserves)
{
	unsigned int seed = (unsigned int)_i;
	uint64_t counts[100], parts[100], sum = 0, amount = 0;
	long double total = 0;

	for (int i = 0; i < 100; i++) {
		counts[i] = (uint64_t)rand_r(&seed) << (rand_r(&seed) % 33);
		total += (long double)counts[i];
		amount = amount * 31 + (uint64_t)rand_r(&seed);
	}
	amount &= (UINT64_C(1) << 50) - 1; /* so that a share in floating point is good to a unit */
	qz_estimate__apportion(amount, counts, 100, parts);
	for (int i = 0; i < 100; i++) {
		long double share = (long double)amount * (long double)counts[i] / total;

		ck_assert(fabsl((long double)parts[i] - share) < 1.01L);
		sum += parts[i];
	}
	ck_assert_uint_eq(sum, amount);
}
END_TEST

/* ---- estimating ---- */

/* Processor times add up to those of each level, normalized times to the part with a busy processor. */
static void assert_conserved(const struct qz_profile *p)
{
	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		for (uint32_t level = 1; level < p->scopes[scope].nlevels; level++) {
			uint64_t elapsed = p->scopes[scope].level_ns[level];
			uint64_t norm = 0, cpu = 0, all = 0, unseen = 0;

			for (uint32_t i = 0; i < p->nsamples; i++) {
				if (p->samples[i].scope != scope || p->samples[i].level != level)
					continue;
				norm += p->samples[i].norm_ns;
				cpu += p->samples[i].cpu_ns;
				all += qz_sample__weight(&p->samples[i]);
				if (!p->samples[i].busy)
					unseen += qz_sample__weight(&p->samples[i]);
			}
			ck_assert_uint_eq(cpu, level * elapsed);
			if (unseen)
				ck_assert(fabsl((long double)(elapsed - norm) -
						(long double)elapsed * unseen / all) < 2);
			else
				ck_assert_uint_eq(norm, elapsed);
		}
	}
}

START_TEST(each_level_is_conserved)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	assert_conserved(p);
	qz_profile__free(p);
}
END_TEST

START_TEST(a_level_without_samples_is_unattributed)
{
	static const uint64_t level_ns[] = {5, 100, 0, 300};
	struct fixture f = fixture__new();
	const struct qz_sample *s;

	fixture__scope(&f, level_ns, 4);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main", 1, 1);
	fixture__samples(&f, 0, 0, "main", 2, 5);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	assert_conserved(f.p);
	ck_assert_uint_eq(f.p->nsamples, 3);
	s = &f.p->samples[2];
	ck_assert_uint_eq(s->thread, QZ_NONE);
	ck_assert_uint_eq(s->level, 3);
	ck_assert_uint_eq(s->count, 0);
	ck_assert_uint_eq(s->norm_ns, 300);
	ck_assert_uint_eq(s->cpu_ns, 900);
	ck_assert_str_eq(
		f.p->procedures[f.p->locations[f.p->nodes[s->node].location].lines[0].procedure]
			.name,
		"[unattributed]");
	qz_profile__free(f.p);
}
END_TEST

/* As quartzd does: estimate, go on sampling, estimate again. */
START_TEST(estimates_can_be_repeated)
{
	static const uint64_t level_ns[] = {0, 100, 200};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main", 1, 1);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(qz_estimate__profile(f.p), 0);
		ck_assert_uint_eq(f.p->nsamples, 2);
		assert_conserved(f.p);
	}
	fixture__samples(&f, 0, 0, "main f", 2, 3);
	fixture__samples(&f, 0, 0, "main", 1, 3);
	f.p->scopes[0].level_ns[2] = 1000;
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(f.p->nsamples, 2);
	assert_conserved(f.p);
	ck_assert_uint_eq(f.p->samples[1].norm_ns, 1000);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(nothing_to_estimate)
{
	struct qz_profile *p = qz_profile__new();

	ck_assert_int_eq(qz_estimate__profile(p), 0);
	ck_assert_uint_eq(p->nsamples, 0);
	qz_profile__free(p);
}
END_TEST

/* ---- confidence ---- */

static double half_width(uint64_t amount, uint64_t hits, uint64_t samples)
{
	return qz_estimate__half_width(&amount, &(struct qz_hits) {.samples = &hits},
				       &(struct qz_hits) {.samples = &samples, .squares = &samples},
				       1, 0);
}

START_TEST(half_width_of_known_shares)
{
	/* 1.959964 * sqrt(0.5 * 0.5 / 100) = 0.0979982 */
	ck_assert_double_eq_tol(half_width(1000000, 50, 100), 97998.2, 0.1);
	/* 1.959964 * sqrt(0.1 * 0.9 / 900) = 0.0195996 */
	ck_assert_double_eq_tol(half_width(1000000, 90, 900), 19599.6, 0.1);
	/* 10 of 10: p = 11.92073 / 13.84146, n = 13.84146: 0.1821209 */
	ck_assert_double_eq_tol(half_width(1000000, 10, 10), 182120.9, 1);
	ck_assert_double_eq(half_width(1000000, 0, 100), 0);
	ck_assert_double_eq(half_width(1000000, 0, 0), 0);
}
END_TEST

START_TEST(half_width_over_levels)
{
	const uint64_t amount[] = {3000, 4000, 500}, samples[] = {100, 100, 0};
	const uint64_t hits[] = {50, 50, 0}, none[] = {0, 0, 0}, some[] = {50, 0, 0};
	/* 0 of 100: p = 1.92073 / 103.84146, n = 103.84146: 0.0259153 */
	const double miss = 4000 * 0.0259153, hit = 3000 * 0.0979982;
	const struct qz_hits all = {.samples = samples, .squares = samples};

	ck_assert_double_eq_tol(qz_estimate__half_width(amount, &(struct qz_hits) {.samples = hits},
							&all, 3, 0),
				5000 * 0.0979982 + 500, 0.01);
	ck_assert_double_eq(qz_estimate__half_width(amount, &(struct qz_hits) {.samples = none},
						    &all, 3, 0),
			    0);
	ck_assert_double_eq_tol(qz_estimate__half_width(amount, &(struct qz_hits) {.samples = some},
							&all, 3, 0),
				sqrt(hit * hit + miss * miss) + 500, 0.01);
}
END_TEST

/* Repeating the experiment: the interval of one share holds the truth about 95 times of 100. */
START_TEST(half_width_covers_the_truth)
{
	const double truth = 0.3;
	const uint64_t amount = 1000000, samples = 400;
	unsigned int seed = 1;
	int covered = 0;

	for (int round = 0; round < 2000; round++) {
		uint64_t hits = 0;
		double estimate;

		for (uint64_t i = 0; i < samples; i++)
			hits += rand_r(&seed) < truth * RAND_MAX;
		estimate = (double)amount * (double)hits / (double)samples;
		covered += fabs(estimate - truth * (double)amount) <=
			   half_width(amount, hits, samples);
	}
	ck_assert_int_ge(covered, 1860);
	ck_assert_int_le(covered, 1940);
}
END_TEST

Suite *suite_estimate(void)
{
	Suite *s = suite_create("estimate");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, apportion_rounds_as_it_goes);
	tcase_add_test(tc, apportion_is_exact_at_the_extremes);
	tcase_add_loop_test(tc, apportion_conserves, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, each_level_is_conserved, 0, RANDOM_PROFILES);
	tcase_add_test(tc, a_level_without_samples_is_unattributed);
	tcase_add_test(tc, estimates_can_be_repeated);
	tcase_add_test(tc, nothing_to_estimate);
	tcase_add_test(tc, half_width_of_known_shares);
	tcase_add_test(tc, half_width_over_levels);
	tcase_add_test(tc, half_width_covers_the_truth);
	suite_add_tcase(s, tc);
	return s;
}
