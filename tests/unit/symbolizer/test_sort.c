/* SPDX-License-Identifier: GPL-2.0-only */
/* Items sorted by the number at their beginning. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "symbolizer/util/sort.h"
#include "tests/unit/suites.h"

struct item {
	uint64_t number;
	uint32_t place; /* before the sorting */
	uint32_t zero;
};

/* Of the lowest bit on, of any 64 bits, of addresses that have most digits in common; some of them more than once. */
static uint64_t make_number(int kind)
{
	uint64_t any = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();

	return kind == 0 ? any & 1 : kind == 1 ? any : 0x7f0012000000 + any % 5000 * 16;
}

START_TEST(sorts_and_keeps_the_order_of_equal_ones)
{
	static const size_t sizes[] = {0, 1, 2, 3, 100, 20000};

	srandom(1);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		size_t n = sizes[k];
		struct item *items = calloc(n + 1, sizeof(*items));
		uint64_t sum = 0;

		ck_assert_ptr_nonnull(items);
		for (size_t i = 0; i < n; i++) {
			items[i] = (struct item) {make_number(_i), (uint32_t)i, 0};
			sum += items[i].number * (i + 1);
		}
		ck_assert_int_eq(sort__by_number(items, n, sizeof(*items)), 0);
		for (size_t i = 0; i < n; i++) {
			ck_assert(i == 0 || items[i - 1].number < items[i].number ||
				  (items[i - 1].number == items[i].number &&
				   items[i - 1].place < items[i].place));
			sum -= items[i].number * (items[i].place + 1);
		}
		ck_assert_uint_eq(sum, 0);
		free(items);
	}
}
END_TEST

START_TEST(sorts_bare_numbers)
{
	uint64_t numbers[] = {3, UINT64_MAX, 0, 1ULL << 63, 3, 1ULL << 32};
	const uint64_t sorted[] = {0, 3, 3, 1ULL << 32, 1ULL << 63, UINT64_MAX};

	ck_assert_int_eq(sort__by_number(numbers, 6, sizeof(numbers[0])), 0);
	ck_assert_mem_eq(numbers, sorted, sizeof(sorted));
	ck_assert_int_eq(sort__by_number(NULL, 0, sizeof(numbers[0])), 0);
}
END_TEST

Suite *suite_sort(void)
{
	Suite *suite = suite_create("sort");
	TCase *tcase = tcase_create("numbers");

	tcase_add_loop_test(tcase, sorts_and_keeps_the_order_of_equal_ones, 0, 3);
	tcase_add_test(tcase, sorts_bare_numbers);
	suite_add_tcase(suite, tcase);
	return suite;
}
