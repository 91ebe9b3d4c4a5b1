/* SPDX-License-Identifier: GPL-2.0-only */
/* Candidates of --what-if: their names, as they are given, and those that lead. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "daemon/what_if/candidate_names.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

static void expect_names(const struct candidate_names *names, uint32_t n, const char *const *wanted)
{
	ck_assert_uint_eq(names->n, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_str_eq(names->items[i], wanted[i]);
}

START_TEST(lists_of_names)
{
	static const char *const wanted[] = {"one", "map<int, long>::find(int, char)",
					     "mutex queue_lock", "operator->"};
	struct candidate_names names = {0};

	ck_assert_int_eq(candidate_names__parse(&names, "one,map<int, long>::find(int, char),"
							"mutex queue_lock,operator->"),
			 0);
	expect_names(&names, 4, wanted);
	candidate_names__free(&names);
}
END_TEST

START_TEST(lists_that_are_none)
{
	static const char *const wrong[] = {
		"", ",", "a,", ",a", "a,,b", "a,b,a", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct candidate_names names = {0};

		ck_assert_int_eq(candidate_names__parse(&names, wrong[i]), -EINVAL);
		candidate_names__free(&names);
	}
}
END_TEST

static void set_wait(struct fixture *f, uint32_t object, uint64_t ns)
{
	f->p->objects[object].wait_ns = ns;
}

START_TEST(those_that_lead_are_chosen)
{
	static const uint64_t levels[] = {0, 1000 * MS, 1000 * MS};
	static const char *const wanted[] = {"mutex busy_lock", "deflate", "match", "compress"};
	struct candidate_names names = {0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, levels, 3), thread = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, thread, "main compress deflate", 1, 500);
	fixture__samples(&f, scope, thread, "main compress match", 2, 300);
	fixture__samples(&f, scope, thread, "main", 1, 5);
	fixture__samples(&f, scope, thread, "main rare", 1, 1);
	for (int i = 0; i < 194; i++)
		fixture__samples(&f, scope, thread, "main deflate", 1, 1);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_MUTEX, "busy_lock"), 900 * MS);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_MUTEX, "idle_lock"), MS);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_BARRIER, "all"), 900 * MS);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(candidate_names__choose(&names, f.p), 0);
	expect_names(&names, 4, wanted);
	candidate_names__free(&names);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_candidate_names(void)
{
	Suite *s = suite_create("candidate_names");
	TCase *t = tcase_create("names");

	tcase_add_test(t, lists_of_names);
	tcase_add_test(t, lists_that_are_none);
	tcase_add_test(t, those_that_lead_are_chosen);
	suite_add_tcase(s, t);
	return s;
}
