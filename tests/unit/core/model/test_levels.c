/* SPDX-License-Identifier: GPL-2.0-only */
/* Level times that were counted for a part of the time. */
#include <stdlib.h>

#include "core/model/levels.h"
#include "tests/unit/suites.h"

#define N	4
#define SECOND	1000000000ull
#define ALL(of) ((of)[0] + (of)[1] + (of)[2] + (of)[3])
#define CPU(of) ((of)[1] + 2 * (of)[2] + 3 * (of)[3])

struct run {
	uint64_t ns[N], before[N], add[N], elapsed;
	double counted[N];
};

/* So many ns pass, of which the given ones are counted at each level; so much processor time is used. */
static void pass(struct run *r, uint64_t elapsed, const uint64_t *counted, uint64_t cpu)
{
	const struct qz_levels levels = {
		.ns = r->ns,
		.before = r->before,
		.counted = r->counted,
		.n = N,
		.elapsed_ns = r->elapsed += elapsed,
		.missing_ns = cpu > CPU(counted) ? cpu - CPU(counted) : 0,
	};

	for (int i = 0; i < N; i++) {
		r->before[i] = r->ns[i];
		r->ns[i] += counted[i];
	}
	qz_levels__complete(&levels, r->add);
	for (int i = 0; i < N; i++)
		ck_assert_uint_eq(r->ns[i], r->before[i] + counted[i] + r->add[i]);
}

START_TEST(all_that_was_counted_stays)
{
	const uint64_t counted[N] = {SECOND / 2, SECOND / 4, SECOND / 8, SECOND / 8};
	struct run r = {0};

	pass(&r, SECOND, counted, CPU(counted));
	ck_assert_uint_eq(ALL(r.add), 0);
}
END_TEST

/* An eighth of the time is counted. */
START_TEST(the_rest_is_as_what_was_counted)
{
	const uint64_t counted[N] = {SECOND / 16, SECOND / 32, 0, SECOND / 32};
	struct run r = {0};

	pass(&r, SECOND, counted, 8 * CPU(counted));
	ck_assert_uint_eq(ALL(r.ns), SECOND);
	for (int i = 0; i < N; i++)
		ck_assert(llabs((int64_t)(r.ns[i] - 8 * counted[i])) <= N);
}
END_TEST

START_TEST(what_nobody_saw_is_one_thread)
{
	const uint64_t counted[N] = {0};
	struct run r = {0};

	pass(&r, SECOND, counted, SECOND / 3);
	ck_assert_uint_eq(r.ns[1], SECOND / 3);
	ck_assert_uint_eq(r.ns[0], SECOND - SECOND / 3);
}
END_TEST

/* Slots of a timeline are shorter than from one window to the next. */
START_TEST(what_was_counted_is_remembered)
{
	const uint64_t two[N] = {0, 0, SECOND / 10, 0}, none[N] = {0};
	struct run r = {0};

	pass(&r, SECOND / 10, two, 2 * SECOND / 10);
	for (int i = 0; i < 9; i++)
		pass(&r, SECOND / 10, none, SECOND / 10);
	ck_assert_uint_eq(ALL(r.ns), SECOND);
	ck_assert_uint_eq(r.ns[1], 0);
	ck_assert_uint_eq(r.ns[2], SECOND / 10 + 9 * SECOND / 20);
}
END_TEST

/* But what is counted now has more weight than what was counted a minute ago. */
START_TEST(what_was_long_ago_is_forgotten)
{
	const uint64_t two[N] = {0, 0, SECOND, 0}, one[N] = {0, SECOND / 100, 0, 0};
	struct run r = {0};

	pass(&r, 60 * SECOND, two, 120 * SECOND);
	pass(&r, 60 * SECOND, one, 60 * SECOND);
	ck_assert_uint_gt(r.add[1], 30 * SECOND);
}
END_TEST

START_TEST(there_is_no_more_than_all_the_time)
{
	const uint64_t counted[N] = {0, 0, 0, SECOND / 10};
	struct run r = {0};

	pass(&r, SECOND, counted, 4 * SECOND);
	ck_assert_uint_eq(ALL(r.ns), SECOND);
	ck_assert_uint_eq(r.ns[3], SECOND);
}
END_TEST

/* One thread at a time was seen, and yet two ran at once for half of the time, or three. */
START_TEST(more_ran_at_once_than_were_seen)
{
	const uint64_t counted[N] = {0, SECOND / 10, 0, 0};
	struct run r = {0};

	pass(&r, SECOND, counted, SECOND * (3 + 2 * (uint64_t)_i) / 2);
	ck_assert_uint_eq(ALL(r.ns), SECOND);
	ck_assert(llabs((int64_t)(CPU(r.ns) - SECOND * (3 + 2 * (uint64_t)_i) / 2)) <= N * N);
	ck_assert_uint_eq(r.ns[1], _i ? SECOND / 10 : SECOND / 2);
}
END_TEST

/* A phase of two threads is remembered when one of three has begun: no level between the two is made up. */
START_TEST(a_level_that_was_not_counted_is_not_made_up)
{
	const uint64_t one[N] = {0, SECOND / 10, 0, 0}, three[N] = {0, 0, 0, SECOND / 10},
		       none[N] = {0};
	struct run r = {0};

	pass(&r, SECOND, one, SECOND);
	pass(&r, SECOND / 10, three, 3 * SECOND / 10);
	pass(&r, SECOND / 10, none, 3 * SECOND / 10);
	ck_assert_uint_le(r.ns[2], N);
	ck_assert(llabs((int64_t)(r.ns[3] - SECOND / 5)) <= N);
}
END_TEST

START_TEST(sums_are_exact_whatever_was_counted)
{
	unsigned int seed = (unsigned int)_i;
	struct run r = {0};

	for (int turn = 0; turn < 50; turn++) {
		uint64_t counted[N], elapsed, cpu = 0, before = CPU(r.ns);

		for (int i = 0; i < N; i++)
			counted[i] = (uint64_t)rand_r(&seed) % (SECOND / 16);
		elapsed = ALL(counted) + (uint64_t)rand_r(&seed) % SECOND;
		cpu = CPU(counted) +
		      (uint64_t)rand_r(&seed) % ((N - 1) * (elapsed - ALL(counted)) + 1);
		pass(&r, elapsed, counted, cpu);
		ck_assert_uint_eq(ALL(r.ns), r.elapsed);
		ck_assert(llabs((int64_t)(CPU(r.ns) - before - cpu)) <= N * N);
	}
}
END_TEST

Suite *suite_levels(void)
{
	Suite *s = suite_create("levels");
	TCase *t = tcase_create("levels");

	tcase_add_test(t, all_that_was_counted_stays);
	tcase_add_test(t, the_rest_is_as_what_was_counted);
	tcase_add_test(t, what_nobody_saw_is_one_thread);
	tcase_add_test(t, what_was_counted_is_remembered);
	tcase_add_test(t, what_was_long_ago_is_forgotten);
	tcase_add_test(t, there_is_no_more_than_all_the_time);
	tcase_add_loop_test(t, more_ran_at_once_than_were_seen, 0, 2);
	tcase_add_test(t, a_level_that_was_not_counted_is_not_made_up);
	tcase_add_loop_test(t, sums_are_exact_whatever_was_counted, 0, 20);
	suite_add_tcase(s, t);
	return s;
}
