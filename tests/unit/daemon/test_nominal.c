/* SPDX-License-Identifier: GPL-2.0-only */
/* Means of nominal parallelism are grouped. */
#include <stdint.h>

#include "quartz/records.h"
#include "tests/unit/suites.h"

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
	TCase *t = tcase_create("groups");

	tcase_add_test(t, groups_keep_order);
	suite_add_tcase(s, t);
	return s;
}
