/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/target/disputes.h"
#include "tests/unit/suites.h"

/* Replaced once, all is known: stale samples are of the new code, and others of the old. */
START_TEST(one_replacement_is_no_dispute)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert(!disputes__has(&d, 0x1800, true, 0));
	ck_assert(!disputes__has(&d, 0x1800, false, 0));
	disputes__settle(&d, 100);
	ck_assert(!disputes__has(&d, 0x1800, true, 0));
	disputes__free(&d);
}
END_TEST

/* Stale samples may be of the second code or the third, if both were there without tables since `began`. */
START_TEST(two_of_a_buffer_are_a_dispute)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	disputes__settle(&d, 100);
	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert(disputes__has(&d, 0x1000, true, 99));
	ck_assert(disputes__has(&d, 0x1fff, true, 99));
	ck_assert(!disputes__has(&d, 0x2000, true, 99));
	ck_assert(!disputes__has(&d, 0xfff, true, 99));
	ck_assert(!disputes__has(&d, 0x1000, true, 100));
	ck_assert(!disputes__has(&d, 0x1000, false, 99));
	disputes__free(&d);
}
END_TEST

/* Until the tables of the last one are there, when those of the one before never were. */
START_TEST(a_dispute_lasts_until_it_is_settled)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert(disputes__has(&d, 0x1000, true, 1000000));
	disputes__settle(&d, 2000000);
	ck_assert(disputes__has(&d, 0x1000, true, 1999999));
	ck_assert(!disputes__has(&d, 0x1000, true, 2000000));
	disputes__settle(&d, 3000000);
	ck_assert(!disputes__has(&d, 0x1000, true, 2000000));
	disputes__free(&d);
}
END_TEST

START_TEST(what_was_not_named_in_time_is_disputed)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x5000, 0x6000), 0);
	disputes__unnamed(&d, 0x1000, 0x2000, 100);
	ck_assert(disputes__has(&d, 0x1000, false, 99));
	ck_assert(!disputes__has(&d, 0x1000, false, 100));
	ck_assert(!disputes__has(&d, 0x5000, false, 99));
	disputes__free(&d);
}
END_TEST

/* Code of another size, at a part of the place, or at several: they are one place from then on. */
START_TEST(places_that_overlap_are_one)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x3000, 0x4000), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x6000, 0x7000), 0);
	disputes__unnamed(&d, 0x3000, 0x3001, 50);
	ck_assert_int_eq(disputes__replaced(&d, 0x1800, 0x3800), 0);
	ck_assert_uint_eq(d.n, 2);
	ck_assert(disputes__has(&d, 0x1000, true, 1000));
	ck_assert(disputes__has(&d, 0x2800, true, 1000));
	ck_assert(disputes__has(&d, 0x3fff, true, 1000));
	ck_assert(disputes__has(&d, 0x1000, false, 49));
	ck_assert(!disputes__has(&d, 0x6000, true, 1000));
	disputes__free(&d);
}
END_TEST

/* Beyond what is kept, everything is in doubt: nothing that was replaced twice is believed. */
START_TEST(too_many_places_are_one)
{
	struct disputes d = {0};

	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(disputes__replaced(&d, i << 12, (i << 12) + 0x800), 0);
	ck_assert_uint_le(d.n, 64);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(disputes__replaced(&d, i << 12, (i << 12) + 0x800), 0);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert(disputes__has(&d, i << 12, true, 1000));
	disputes__free(&d);
}
END_TEST

Suite *suite_disputes(void)
{
	Suite *s = suite_create("disputes");
	TCase *c = tcase_create("all");

	tcase_add_test(c, one_replacement_is_no_dispute);
	tcase_add_test(c, two_of_a_buffer_are_a_dispute);
	tcase_add_test(c, a_dispute_lasts_until_it_is_settled);
	tcase_add_test(c, what_was_not_named_in_time_is_disputed);
	tcase_add_test(c, places_that_overlap_are_one);
	tcase_add_test(c, too_many_places_are_one);
	suite_add_tcase(s, c);
	return s;
}
