/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads around a progress loop. */
#include "daemon/spin/around.h"
#include "tests/unit/suites.h"

static const struct around call = {.callers = {7, 8}}, loop = {.leaf = 7}, outer = {.leaf = 8},
			   other = {.leaf = 9}, aside = {0}, program = {.elsewhere = true};
static struct thread thread;

static void setup(void)
{
	thread = (struct thread) {.serial = 1};
}

static bool takes(const struct around *a)
{
	return around__takes(&thread, a);
}

START_TEST(who_calls_it_again_and_again_waits)
{
	ck_assert(!takes(&loop)); /* it has not been seen to call it */
	ck_assert(!takes(&call));
	for (int i = 0; i < 7; i++)
		ck_assert(takes(i % 2 ? &loop : &outer));
	takes(&call);
	ck_assert(!takes(&aside));
	ck_assert(takes(&loop));
}
END_TEST

START_TEST(who_comes_back_does_not)
{
	takes(&call);
	ck_assert(!takes(&program));
	ck_assert(!takes(&loop));
	takes(&call);
	ck_assert(!takes(&other));
	ck_assert(!takes(&loop));
}
END_TEST

/* As a reduction in the same procedure would. */
START_TEST(who_does_not_call_it_again_works)
{
	uint32_t n = 0;

	takes(&call);
	for (int i = 0; i < 100; i++)
		n += takes(&loop);
	ck_assert_uint_le(n, 8);
}
END_TEST

Suite *suite_around(void)
{
	Suite *s = suite_create("around");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, who_calls_it_again_and_again_waits);
	tcase_add_test(c, who_comes_back_does_not);
	tcase_add_test(c, who_does_not_call_it_again_works);
	suite_add_tcase(s, c);
	return s;
}
