/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/target/disputes.h"
#include "tests/unit/suites.h"

/* Replaced once, all is known: stale samples are of the new code, and others of the old. */
START_TEST(one_replacement_is_no_dispute)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert(!disputes__has(&d, 0x1800, TABLES_STALE, 0));
	ck_assert(!disputes__has(&d, 0x1800, TABLES_CURRENT, 0));
	disputes__settle(&d, 100);
	ck_assert(!disputes__has(&d, 0x1800, TABLES_STALE, 0));
	disputes__free(&d);
}
END_TEST

/* Stale samples may be of the second code or the third, if both were there without tables since `began`. */
START_TEST(two_of_a_buffer_are_a_dispute)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	disputes__settle(&d, 100);
	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert(disputes__has(&d, 0x1000, TABLES_STALE, 99));
	ck_assert(disputes__has(&d, 0x1fff, TABLES_STALE, 99));
	ck_assert(!disputes__has(&d, 0x2000, TABLES_STALE, 99));
	ck_assert(!disputes__has(&d, 0xfff, TABLES_STALE, 99));
	ck_assert(!disputes__has(&d, 0x1000, TABLES_STALE, 100));
	ck_assert(!disputes__has(&d, 0x1000, TABLES_CURRENT, 99));
	disputes__free(&d);
}
END_TEST

/* Until the tables of the last one are there, when those of the one before never were. */
START_TEST(a_dispute_lasts_until_it_is_settled)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert(disputes__has(&d, 0x1000, TABLES_STALE, 1000000));
	disputes__settle(&d, 2000000);
	ck_assert(disputes__has(&d, 0x1000, TABLES_STALE, 1999999));
	ck_assert(!disputes__has(&d, 0x1000, TABLES_STALE, 2000000));
	disputes__settle(&d, 3000000);
	ck_assert(!disputes__has(&d, 0x1000, TABLES_STALE, 2000000));
	disputes__free(&d);
}
END_TEST

/*
 * All places of an image have the same tables: what comes while these are stale, for whatever place, has not only its own stale
 * samples.
 */
START_TEST(tables_are_stale_for_all_places)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x5000, 0x6000, 20), 0);
	ck_assert(!disputes__has(&d, 0x1000, TABLES_STALE, 0));
	ck_assert(disputes__has(&d, 0x5000, TABLES_STALE, 5));
	disputes__settle(&d, 30);
	ck_assert(disputes__has(&d, 0x5000, TABLES_STALE, 29));
	ck_assert(!disputes__has(&d, 0x5000, TABLES_STALE, 30));
	ck_assert_int_eq(disputes__replaced(&d, 0x7000, 0x8000, 40), 0);
	ck_assert(disputes__has(&d, 0x7000, TABLES_STALE, 29));
	ck_assert(!disputes__has(&d, 0x7000, TABLES_STALE, 30));
	disputes__free(&d);
}
END_TEST

/* Of a program that has just begun, or of code that was never taken in: even one replacement leaves two to choose from. */
START_TEST(without_tables_it_may_be_any)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 50), 0);
	ck_assert(disputes__has(&d, 0x1800, TABLES_LACKING, 49));
	ck_assert(!disputes__has(&d, 0x1800, TABLES_LACKING, 50));
	ck_assert(!disputes__has(&d, 0x2000, TABLES_LACKING, 49));
	disputes__settle(&d, 100);
	ck_assert(disputes__has(&d, 0x1800, TABLES_LACKING, 49));
	ck_assert_int_eq(disputes__replaced(&d, 0x1800, 0x2800, 150), 0);
	ck_assert(disputes__has(&d, 0x1000, TABLES_LACKING, 149));
	ck_assert(!disputes__has(&d, 0x1000, TABLES_LACKING, 150));
	disputes__free(&d);
}
END_TEST

START_TEST(what_was_not_named_in_time_is_disputed)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 10), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x5000, 0x6000, 10), 0);
	disputes__unnamed(&d, 0x1000, 0x2000, 100);
	ck_assert(disputes__has(&d, 0x1000, TABLES_CURRENT, 99));
	ck_assert(!disputes__has(&d, 0x1000, TABLES_CURRENT, 100));
	ck_assert(!disputes__has(&d, 0x5000, TABLES_CURRENT, 99));
	disputes__free(&d);
}
END_TEST

/* Code of another size, at a part of the place, or at several: they are one place from then on. */
START_TEST(places_that_overlap_are_one)
{
	struct disputes d = {0};

	ck_assert_int_eq(disputes__replaced(&d, 0x6000, 0x7000, 10), 0);
	disputes__settle(&d, 20);
	ck_assert_int_eq(disputes__replaced(&d, 0x1000, 0x2000, 30), 0);
	ck_assert_int_eq(disputes__replaced(&d, 0x3000, 0x4000, 30), 0);
	disputes__unnamed(&d, 0x3000, 0x3001, 50);
	ck_assert_int_eq(disputes__replaced(&d, 0x1800, 0x3800, 10), 0);
	ck_assert_uint_eq(d.n, 2);
	ck_assert(disputes__has(&d, 0x1000, TABLES_STALE, 1000));
	ck_assert(disputes__has(&d, 0x2800, TABLES_STALE, 1000));
	ck_assert(disputes__has(&d, 0x3fff, TABLES_STALE, 1000));
	ck_assert(disputes__has(&d, 0x1000, TABLES_CURRENT, 49));
	ck_assert(!disputes__has(&d, 0x6000, TABLES_STALE, 1000));
	disputes__free(&d);
}
END_TEST

/* Beyond what is kept, everything is in doubt: nothing that was replaced twice is believed. */
START_TEST(too_many_places_are_one)
{
	struct disputes d = {0};

	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(disputes__replaced(&d, i << 12, (i << 12) + 0x800, 10), 0);
	ck_assert_uint_le(d.n, 64);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(disputes__replaced(&d, i << 12, (i << 12) + 0x800, 10), 0);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert(disputes__has(&d, i << 12, TABLES_STALE, 1000));
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
	tcase_add_test(c, tables_are_stale_for_all_places);
	tcase_add_test(c, without_tables_it_may_be_any);
	tcase_add_test(c, what_was_not_named_in_time_is_disputed);
	tcase_add_test(c, places_that_overlap_are_one);
	tcase_add_test(c, too_many_places_are_one);
	suite_add_tcase(s, c);
	return s;
}
