/* SPDX-License-Identifier: GPL-2.0-only */
/* How ratios are said, on both sides of twice as much. */
#include <check.h>

#include "core/util/ratio_text.h"
#include "tests/unit/suites.h"

START_TEST(gains)
{
	static const struct {
		double ratio, ci;
		const char *gain, *within;
	} cases[] = {
		{0.519, 0.042, "48.1%", "±4.2"},
		{1.0004, 0.01, "0.0%", "±1.0"},
		{0.9996, 0.01, "0.0%", "±1.0"},
		{1.12, 0.1, "-12.0%", "±10.0"},
		{1.999, 0.1, "-99.9%", "±10.0"},
		{2, 0.1, "2.0 times as slow", "±0.1"},
		{15.32, 1.24, "15.3 times as slow", "±1.2"},
		{99.97, 5, "100 times as slow", "±5.0"},
		{1432, 99, "1432 times as slow", "±99.0"},
	};
	char text[QZ_RATIO_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		qz_ratio_text__gain(text, cases[i].ratio);
		ck_assert_str_eq(text, cases[i].gain);
		qz_ratio_text__gain_within(text, cases[i].ratio, cases[i].ci);
		ck_assert_str_eq(text, cases[i].within);
	}
}
END_TEST

START_TEST(changes_and_amounts)
{
	static const struct {
		double ratio;
		const char *change, *amount;
	} cases[] = {
		{0.49, "-51%", "51% less work than"},
		{1.004, "+0%", "0% more work than"},
		{0.996, "+0%", "0% less work than"},
		{1.71, "+71%", "71% more work than"},
		{5.23, "5.2 times", "5.2 times as much work as"},
		{250.4, "250 times", "250 times as much work as"},
	};
	char text[QZ_RATIO_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		qz_ratio_text__change(text, cases[i].ratio);
		ck_assert_str_eq(text, cases[i].change);
		qz_ratio_text__amount(text, cases[i].ratio, "work");
		ck_assert_str_eq(text, cases[i].amount);
	}
}
END_TEST

Suite *suite_ratio_text(void)
{
	Suite *s = suite_create("ratio_text");
	TCase *c = tcase_create("ratio_text");

	tcase_add_test(c, gains);
	tcase_add_test(c, changes_and_amounts);
	suite_add_tcase(s, c);
	return s;
}
