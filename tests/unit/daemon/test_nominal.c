/* SPDX-License-Identifier: GPL-2.0-only */
/* The packed word of nominal parallelism: means over waits against sums made the long way. */
#include <stdbool.h>
#include <stdint.h>

#include "quartz/records.h"
#include "tests/unit/suites.h"

#define UNIT (1ull << QZ_NOMINAL_SHIFT)

static uint64_t change(uint64_t *word, int delta, uint64_t t)
{
	*word += qz_nominal__packed_delta(delta, t);
	return t;
}

START_TEST(number_of_runnable_threads)
{
	uint64_t word = 0, t = 123456789;

	for (int i = 0; i < 60000; i++)
		change(&word, 1, t += 1000);
	ck_assert_uint_eq(word & QZ_NOMINAL_MASK, 60000);
	for (int i = 0; i < 60000; i++)
		change(&word, -1, t += 777);
	ck_assert_uint_eq(word & QZ_NOMINAL_MASK, 0);
}
END_TEST

/* In each state for a whole number of units, so that the mean is exact. */
START_TEST(mean_over_changes)
{
	uint64_t word = 0, t = UINT64_C(1) << 60, begin, from, sum = 0, ns = 0;

	for (int i = 0; i < 7; i++)
		change(&word, 1, t);
	begin = t += 5 * UNIT;
	from = qz_nominal__integral(word, begin);
	for (int i = 0; i < 1000; i++) {
		uint64_t span = (1 + i % 13) * UNIT;

		sum += (word & QZ_NOMINAL_MASK) * span;
		ns += span;
		change(&word, i % 5 ? -1 : 4, t += span);
	}
	ck_assert_uint_eq(qz_nominal__mean(word, from, t, ns), (sum + ns / 2) / ns);
}
END_TEST

START_TEST(constant_number_is_its_own_mean)
{
	uint64_t word = 0, begin, from;

	for (int i = 0; i < 3; i++)
		change(&word, 1, 1000 + i);
	for (uint64_t ns = 1; ns < 5000; ns += 7) {
		begin = 1000000 + ns * 31;
		from = qz_nominal__integral(word, begin);
		ck_assert_uint_eq(qz_nominal__mean(word, from, begin + ns, ns), 3);
	}
}
END_TEST

/* The integral wraps, the difference does not: a hundred threads for five days. */
START_TEST(long_waits)
{
	uint64_t word = 0, day = UINT64_C(86400000000000), from;

	for (int i = 0; i < 100; i++)
		change(&word, 1, 40 * day);
	from = qz_nominal__integral(word, 41 * day);
	ck_assert_uint_eq(qz_nominal__mean(word, from, 46 * day, 5 * day), 100);
}
END_TEST

/* Counts may cross 0 for a moment when a change is seen late. */
START_TEST(below_zero_and_back)
{
	uint64_t word = 0, from;

	change(&word, -1, 10 * UNIT);
	change(&word, 1, 10 * UNIT);
	change(&word, 1, 10 * UNIT);
	from = qz_nominal__integral(word, 20 * UNIT);
	ck_assert_uint_eq(word & QZ_NOMINAL_MASK, 1);
	ck_assert_uint_eq(qz_nominal__mean(word, from, 120 * UNIT, 100 * UNIT), 1);
}
END_TEST

START_TEST(groups_keep_order)
{
	uint32_t before = 0;

	for (uint32_t mean = 0; mean <= QZ_MAX_NOMINAL; mean++) {
		uint32_t group = qz_nominal__group(mean);

		ck_assert_uint_le(group, mean);
		ck_assert_uint_ge(group, before);
		ck_assert_uint_le((mean - group) * 5, mean + 4);
		ck_assert(mean >= 16 || group == mean);
		before = group;
	}
}
END_TEST

Suite *suite_nominal(void)
{
	Suite *s = suite_create("nominal");
	TCase *t = tcase_create("packed word");

	tcase_add_test(t, number_of_runnable_threads);
	tcase_add_test(t, mean_over_changes);
	tcase_add_test(t, constant_number_is_its_own_mean);
	tcase_add_test(t, long_waits);
	tcase_add_test(t, below_zero_and_back);
	tcase_add_test(t, groups_keep_order);
	suite_add_tcase(s, t);
	return s;
}
