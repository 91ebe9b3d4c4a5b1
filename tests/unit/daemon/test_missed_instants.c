/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>

#include "daemon/collect/missed_instants.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

/* Instants of stream 0 at 0, 1000, 2000 us; of 1 at 300, 1600, 2900 us; all from a second on; of others in a hundred years. */
#define FAR (1ull << 62)
static const struct timer_schedule schedule = {
	.origin = {1000000000, 1000300000, FAR, FAR},
	.period = {1000000, 1300000, FAR, FAR},
};

static struct timed_sample samples[16];
static uint32_t n;
static struct missed_instants found;

/* Of thread `serial`, of instant k, so many us after the first instant. */
static void sample(uint32_t stream, int64_t k, uint64_t us, uint32_t serial)
{
	samples[n++] = (struct timed_sample) {1000000000 + us * 1000, k, stream, serial};
}

static void find(uint32_t first)
{
	ck_assert_int_eq(missed_instants__add(&found, &schedule, samples, n, first), 0);
}

static bool is_found(uint32_t stream, int64_t k, uint32_t by)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.list[i].stream == stream && found.list[i].k == k)
			return found.list[i].sample == by;
	return false;
}

static void setup(void)
{
	n = 0;
	found = (struct missed_instants) {0};
}

static void teardown(void)
{
	free(found.list);
}

/* At 12000 us there is one of each. */
START_TEST(instants_of_all_streams_are_numbered_in_the_order_of_time)
{
	int64_t k[2] = {-20, -20};

	while (timer_schedule__instant(&schedule, 1, k[1]) <
	       timer_schedule__instant(&schedule, 0, -20))
		k[1]++;
	for (int64_t i = timer_schedule__number(&schedule, 0, -20); k[0] < 40; i++) {
		uint32_t next = timer_schedule__instant(&schedule, 0, k[0]) <=
						timer_schedule__instant(&schedule, 1, k[1])
					? 0
					: 1;

		ck_assert_int_eq(timer_schedule__number(&schedule, next, k[next]), i);
		k[next]++;
	}
}
END_TEST

START_TEST(who_is_in_time_has_missed_nothing)
{
	sample(0, 0, 2, 7);
	sample(1, 0, 303, 7);
	sample(0, 1, 1040, 7);
	/* it had nothing to run for a while */
	sample(1, 4, 5502, 7);
	sample(0, 6, 6002, 7);
	find(0);
	ck_assert_uint_eq(found.n, 0);
}
END_TEST

/* Stopped from 400 to 5100 us. */
START_TEST(who_comes_late_has_missed_what_was_between)
{
	sample(0, 0, 2, 7);
	sample(1, 0, 303, 7);
	sample(0, 5, 5100, 7);
	sample(1, 3, 5110, 7);
	sample(1, 4, 5502, 7);
	find(10);
	ck_assert_uint_eq(found.n, 6);
	for (int64_t k = 1; k < 5; k++)
		ck_assert(is_found(0, k, 12));
	for (int64_t k = 1; k < 3; k++)
		ck_assert(is_found(1, k, 13));
}
END_TEST

/* Of the time before the first instant for which it is too late nothing is known: it may have run since then only. */
START_TEST(what_another_thread_missed_is_not_known)
{
	sample(0, 0, 2, 7);
	sample(1, 0, 303, 8);
	sample(1, 2, 4100, 7);
	sample(0, 4, 4110, 7);
	find(0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert(is_found(0, 3, 3));
}
END_TEST

START_TEST(the_first_sample_tells_what_it_is_late_for)
{
	sample(1, 2, 4100, 7);
	sample(0, 4, 4110, 7);
	find(0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert(is_found(0, 3, 1));
}
END_TEST

START_TEST(missed_instants_without_memory)
{
	sample(0, 0, 2, 7);
	sample(0, 5, 5100, 7);
	failing__arm(1);
	ck_assert_int_eq(missed_instants__add(&found, &schedule, samples, n, 0), -ENOMEM);
	ck_assert(failing__disarm());
	find(0);
	ck_assert_uint_eq(found.n, 4);
}
END_TEST

Suite *suite_missed_instants(void)
{
	Suite *s = suite_create("missed_instants");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, instants_of_all_streams_are_numbered_in_the_order_of_time);
	tcase_add_test(tc, who_is_in_time_has_missed_nothing);
	tcase_add_test(tc, who_comes_late_has_missed_what_was_between);
	tcase_add_test(tc, what_another_thread_missed_is_not_known);
	tcase_add_test(tc, the_first_sample_tells_what_it_is_late_for);
	tcase_add_test(tc, missed_instants_without_memory);
	suite_add_tcase(s, tc);
	return s;
}
