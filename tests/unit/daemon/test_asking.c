/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that ask the kernel whether something has come. */
#include "daemon/spin/asking.h"
#include "tests/unit/suites.h"

static struct thread thread;

static void setup(void)
{
	thread = (struct thread) {.serial = 1};
}

/* n samples; gives how many of them wait. */
static uint32_t take(enum asking_stack what, uint32_t n, uint16_t woken)
{
	uint32_t waits = 0;

	for (uint32_t i = 0; i < n; i++)
		waits += asking__takes(&thread, what, woken);
	return waits;
}

START_TEST(who_asks_on_and_on_waits)
{
	ck_assert_uint_eq(take(ASKING_ASKS, 23, 0), 0);
	ck_assert_uint_eq(take(ASKING_ASIDE, 5, 0), 0);
	ck_assert_uint_eq(take(ASKING_ASKS, 1000, 0), 1000);
	ck_assert_uint_eq(take(ASKING_ASIDE, 5, 0), 5); /* on its way to the next one */
}
END_TEST

START_TEST(who_gets_something_does_not)
{
	take(ASKING_ASKS, 1000, 0);
	ck_assert_uint_eq(take(ASKING_GETS, 1, 0), 0);
	ck_assert_uint_eq(take(ASKING_ASKS, 23, 0), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(take(ASKING_GETS, 1, 0) + take(ASKING_ASKS, 10, 0), 0);
}
END_TEST

START_TEST(who_has_slept_does_not)
{
	take(ASKING_ASKS, 1000, UINT16_MAX);
	ck_assert_uint_eq(take(ASKING_ASKS, 23, 0), 0);
	for (uint16_t i = 1; i < 100; i++)
		ck_assert_uint_eq(take(ASKING_ASKS, 10, i), 0);
}
END_TEST

/* What else it runs is never a wait; nor are its calls, where there is more of that. */
START_TEST(who_mostly_works_does_not)
{
	take(ASKING_ASKS, 1000, 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_eq(take(ASKING_WORKS, 1, 0), 0);
		ck_assert_uint_eq(take(ASKING_ASKS, 3, 0), 3);
	}
	ck_assert_uint_eq(take(ASKING_WORKS, 100, 0), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(take(ASKING_WORKS, 3, 0) + take(ASKING_ASKS, 2, 0), 0);
}
END_TEST

Suite *suite_asking(void)
{
	Suite *s = suite_create("asking");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, who_asks_on_and_on_waits);
	tcase_add_test(tc, who_gets_something_does_not);
	tcase_add_test(tc, who_has_slept_does_not);
	tcase_add_test(tc, who_mostly_works_does_not);
	suite_add_tcase(s, tc);
	return s;
}
