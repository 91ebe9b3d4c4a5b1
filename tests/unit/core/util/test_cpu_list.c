/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of processors, as the kernel writes them. */
#include <check.h>

#include "core/util/cpu_list.h"
#include "tests/unit/suites.h"

static const struct {
	const char *list, *again;
	uint32_t n, end;
} lists[] = {
	{"0", "0", 1, 1},
	{"0-3\n", "0-3", 4, 4},
	{"3,1,0", "0-1,3", 3, 4},
	{"0-1,8191", "0-1,8191", 3, 8192},
	{"62-65,127", "62-65,127", 5, 128},
	{"0-8191", "0-8191", 8192, 8192},
};

START_TEST(lists_are_read_and_written)
{
	struct qz_cpu_set set = {0};
	char again[64], small[3];

	ck_assert_uint_eq(qz_cpu_set__end(&set), 0);
	ck_assert(qz_cpu_set__add_list(&set, lists[_i].list));
	ck_assert_uint_eq(qz_cpu_set__count(&set), lists[_i].n);
	ck_assert_uint_eq(qz_cpu_set__end(&set), lists[_i].end);
	qz_cpu_set__list(&set, again, sizeof(again));
	ck_assert_str_eq(again, lists[_i].again);
	qz_cpu_set__list(&set, small, sizeof(small));
	ck_assert_str_eq(small, _i ? "" : "0");
}
END_TEST

static const char *const wrong[] = {"",
				    "\n",
				    ",",
				    "1,",
				    "-1",
				    "+1",
				    " 1",
				    "3-1",
				    "1-",
				    "8192",
				    "0-8192",
				    "1;2",
				    "99999999999999999999",
				    "a"};

START_TEST(what_is_no_list_is_refused)
{
	struct qz_cpu_set set = {0};

	ck_assert(!qz_cpu_set__add_list(&set, wrong[_i]));
}
END_TEST

Suite *suite_cpu_list(void)
{
	Suite *s = suite_create("cpu_list");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, lists_are_read_and_written, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_loop_test(tc, what_is_no_list_is_refused, 0, sizeof(wrong) / sizeof(wrong[0]));
	suite_add_tcase(s, tc);
	return s;
}
