/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "daemon/output/slice_clock.h"
#include "tests/unit/suites.h"

#define WALL   1700000000000ull
#define STEADY 5000ull
#define SLICE  60000ull
#define DAY    86400000ull
#define AGE    DAY

/* Cuts n slices while the wall clock is off by so much, after `done` of them. Gives the last span. */
static struct slice_span cut(struct slice_clock *c, uint64_t *done, uint64_t n, int64_t off)
{
	struct slice_span span = {0};

	for (uint64_t i = 0; i < n; i++) {
		uint64_t passed = ++*done * SLICE, before = c->until;

		span = slice_clock__cut(c, WALL + passed + off, STEADY + passed);
		ck_assert_uint_lt(span.from, span.until);
		ck_assert(span.from == before || c->set);
	}
	return span;
}

START_TEST(slices_follow_the_wall_clock)
{
	struct slice_clock c;
	struct slice_span span;
	uint64_t done = 0;

	slice_clock__begin(&c, WALL, STEADY);
	span = cut(&c, &done, 3, 0);
	ck_assert_uint_eq(span.from, WALL + 2 * SLICE);
	ck_assert_uint_eq(span.until, WALL + 3 * SLICE);
	span = cut(&c, &done, 1, 900); /* as it is corrected all the time */
	ck_assert_uint_eq(span.until, WALL + 4 * SLICE + 900);
	ck_assert(!slice_clock__is_old(&c, c.until - AGE, AGE));
	ck_assert(slice_clock__is_old(&c, c.until - AGE - 1, AGE));
}
END_TEST

START_TEST(a_clock_that_jumps_and_comes_back_changes_nothing)
{
	int64_t offs[] = {DAY, -(int64_t)DAY, 3600000, -20000};
	struct slice_clock c;
	struct slice_span span;
	uint64_t done = 0;

	slice_clock__begin(&c, WALL, STEADY);
	for (unsigned int i = 0; i < sizeof(offs) / sizeof(*offs); i++) {
		cut(&c, &done, 2, 0);
		span = cut(&c, &done, 9, offs[i]);
		ck_assert_uint_eq(span.until, WALL + done * SLICE);
		ck_assert(!slice_clock__is_old(&c, WALL, AGE));
		ck_assert_uint_eq(c.set, 0);
	}
}
END_TEST

START_TEST(a_clock_that_stays_set_is_followed_and_makes_nothing_old)
{
	struct slice_clock c;
	struct slice_span span;
	uint64_t done = 0;

	slice_clock__begin(&c, WALL, STEADY);
	cut(&c, &done, 2, 0);
	span = cut(&c, &done, 20, 3 * DAY);
	ck_assert_uint_eq(span.until, WALL + 3 * DAY + done * SLICE);
	ck_assert_uint_eq(span.from, span.until - SLICE);
	ck_assert(!slice_clock__is_old(&c, WALL, AGE));
	span = cut(&c, &done, 20, 0);
	ck_assert_uint_eq(span.until, WALL + done * SLICE);
	ck_assert_uint_eq(span.from, span.until - SLICE);
	ck_assert(!slice_clock__is_old(&c, WALL, AGE));
	cut(&c, &done, AGE / SLICE, 0);
	ck_assert(slice_clock__is_old(&c, WALL, AGE));
}
END_TEST

START_TEST(spans_are_never_empty)
{
	struct slice_clock c;

	slice_clock__begin(&c, WALL, STEADY);
	for (int i = 0; i < 3; i++) {
		struct slice_span span = slice_clock__cut(&c, WALL, STEADY);

		ck_assert_uint_eq(span.from, WALL + i);
		ck_assert_uint_eq(span.until, WALL + i + 1);
	}
}
END_TEST

Suite *suite_slice_clock(void)
{
	Suite *suite = suite_create("slice_clock");
	TCase *tcase = tcase_create("slice_clock");

	tcase_add_test(tcase, slices_follow_the_wall_clock);
	tcase_add_test(tcase, a_clock_that_jumps_and_comes_back_changes_nothing);
	tcase_add_test(tcase, a_clock_that_stays_set_is_followed_and_makes_nothing_old);
	tcase_add_test(tcase, spans_are_never_empty);
	suite_add_tcase(suite, tcase);
	return suite;
}
