/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/target/past.h"
#include "tests/unit/suites.h"

static void add(struct past *past, uint64_t start, uint64_t end, uint32_t module, uint64_t time)
{
	const struct region region = {start, end, 0, module};

	past__add(past, &region, time);
}

/* The module at a place, 0: the present one. */
static uint32_t module_at(const struct past *past, uint64_t address, uint64_t time)
{
	const struct region *r = past__find(past, address, time);

	return r ? r->module : 0;
}

/* Code is there until the moment at which other code is reported, and not in it. */
START_TEST(each_time_has_its_code)
{
	struct past p = {0};

	add(&p, 0x1000, 0x2000, 1, 10);
	add(&p, 0x1000, 0x2000, 2, 20);
	ck_assert_uint_eq(module_at(&p, 0x1000, 9), 1);
	ck_assert_uint_eq(module_at(&p, 0x1fff, 10), 2);
	ck_assert_uint_eq(module_at(&p, 0x1000, 19), 2);
	ck_assert_uint_eq(module_at(&p, 0x1000, 20), 0);
	ck_assert_uint_eq(module_at(&p, 0xfff, 9), 0);
	ck_assert_uint_eq(module_at(&p, 0x2000, 9), 0);
	ck_assert(!past__is_unknown(&p, 0x1000, 0));
	past__free(&p);
}
END_TEST

/* The order in which reports were taken does not matter, nor do other places. */
START_TEST(the_first_end_after_a_time_counts)
{
	struct past p = {0};

	add(&p, 0x1000, 0x3000, 2, 20);
	add(&p, 0x5000, 0x6000, 4, 11);
	add(&p, 0x2000, 0x2800, 1, 10);
	ck_assert_uint_eq(module_at(&p, 0x2000, 5), 1);
	ck_assert_uint_eq(module_at(&p, 0x1000, 5), 2);
	ck_assert_uint_eq(module_at(&p, 0x2800, 5), 2);
	ck_assert_uint_eq(module_at(&p, 0x2000, 15), 2);
	ck_assert_uint_eq(module_at(&p, 0x5000, 15), 0);
	past__free(&p);
}
END_TEST

START_TEST(what_is_forgotten_is_not_known)
{
	struct past p = {0};

	ck_assert(!past__is_unknown(&p, 0, 0));
	past__forget(&p, 0x3000, 0x4000, 10);
	ck_assert(past__is_unknown(&p, 0x3000, 9));
	ck_assert(!past__is_unknown(&p, 0x3000, 10));
	ck_assert(!past__is_unknown(&p, 0x2fff, 9));
	ck_assert(!past__is_unknown(&p, 0x4000, 9));
	past__forget(&p, 0x1000, 0x2000, 5);
	ck_assert(past__is_unknown(&p, 0x1000, 9));
	ck_assert(past__is_unknown(&p, 0x3fff, 9));
	past__free(&p);
}
END_TEST

/* However often code is replaced, what is kept is bounded; what is not kept is not known, and has no name of later code. */
START_TEST(what_is_not_kept_is_not_known)
{
	struct past p = {0};

	for (uint32_t i = 1; i <= 10000; i++)
		add(&p, 0x1000, 0x2000, i, 10 * i);
	ck_assert_uint_le(p.n, 1024);
	for (uint32_t i = 1; i <= 10000; i++)
		ck_assert(past__is_unknown(&p, 0x1000, 10 * i - 1) ||
			  module_at(&p, 0x1000, 10 * i - 1) == i);
	ck_assert(past__is_unknown(&p, 0x1000, 0));
	ck_assert(!past__is_unknown(&p, 0x1000, 10 * 9900));
	past__free(&p);
}
END_TEST

Suite *suite_past(void)
{
	Suite *s = suite_create("past");
	TCase *c = tcase_create("all");

	tcase_add_test(c, each_time_has_its_code);
	tcase_add_test(c, the_first_end_after_a_time_counts);
	tcase_add_test(c, what_is_forgotten_is_not_known);
	tcase_add_test(c, what_is_not_kept_is_not_known);
	suite_add_tcase(s, c);
	return s;
}
