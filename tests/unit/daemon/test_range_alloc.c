/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/unwind/range_alloc.h"
#include "tests/unit/suites.h"

#define SIZE  1000
#define GRACE 100

START_TEST(all_can_be_taken_at_once)
{
	struct range_alloc a;

	ck_assert_int_eq(range_alloc__init(&a, SIZE, GRACE), 0);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE + 1, 1), UINT32_MAX);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, 1), 0);
	ck_assert_uint_eq(range_alloc__take(&a, 1, 1), UINT32_MAX);
	ck_assert_uint_eq(range_alloc__take(&a, 0, 1), UINT32_MAX);
	range_alloc__free(&a);
}
END_TEST

START_TEST(what_is_given_back_waits_for_its_grace)
{
	struct range_alloc a;

	ck_assert_int_eq(range_alloc__init(&a, SIZE, GRACE), 0);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, 1), 0);
	ck_assert_int_eq(range_alloc__give(&a, 0, SIZE, 1000), 0);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, 1000 + GRACE - 1), UINT32_MAX);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, 1000 + GRACE), 0);
	range_alloc__free(&a);
}
END_TEST

START_TEST(neighbours_grow_together)
{
	struct range_alloc a;

	ck_assert_int_eq(range_alloc__init(&a, SIZE, GRACE), 0);
	ck_assert_uint_eq(range_alloc__take(&a, 400, 1), 0);
	ck_assert_uint_eq(range_alloc__take(&a, 600, 1), 400);
	ck_assert_int_eq(range_alloc__give(&a, 400, 600, 10), 0);
	ck_assert_int_eq(range_alloc__give(&a, 0, 400, 20), 0);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, 20 + GRACE), 0);
	range_alloc__free(&a);
}
END_TEST

/* Nothing is handed out twice, and in the end everything is there again. */
START_TEST(random_use_conserves_the_pool)
{
	static struct {
		uint32_t first, count;
	} held[64];
	static bool taken[SIZE];
	uint64_t now = 1;
	struct range_alloc a;

	srandom(_i);
	ck_assert_int_eq(range_alloc__init(&a, SIZE, GRACE), 0);
	for (int i = 0; i < SIZE; i++)
		taken[i] = false;
	for (int i = 0; i < 64; i++)
		held[i].count = 0;
	for (int turn = 0; turn < 5000; turn++, now += random() % 20) {
		int k = random() % 64;

		for (uint32_t i = 0; i < held[k].count; i++)
			taken[held[k].first + i] = false;
		ck_assert_int_eq(range_alloc__give(&a, held[k].first, held[k].count, now), 0);
		held[k].count = 1 + random() % 60;
		held[k].first = range_alloc__take(&a, held[k].count, now);
		if (held[k].first == UINT32_MAX)
			held[k].count = 0;
		for (uint32_t i = 0; i < held[k].count; i++) {
			ck_assert(held[k].first + i < SIZE && !taken[held[k].first + i]);
			taken[held[k].first + i] = true;
		}
	}
	for (int k = 0; k < 64; k++)
		ck_assert_int_eq(range_alloc__give(&a, held[k].first, held[k].count, now), 0);
	ck_assert_uint_eq(range_alloc__take(&a, SIZE, now + GRACE), 0);
	range_alloc__free(&a);
}
END_TEST

Suite *suite_range_alloc(void)
{
	Suite *s = suite_create("range_alloc");
	TCase *c = tcase_create("pool");

	tcase_add_test(c, all_can_be_taken_at_once);
	tcase_add_test(c, what_is_given_back_waits_for_its_grace);
	tcase_add_test(c, neighbours_grow_together);
	tcase_add_loop_test(c, random_use_conserves_the_pool, 0, 10);
	suite_add_tcase(s, c);
	return s;
}
