/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>

#include "daemon/target/address_map.h"
#include "tests/unit/suites.h"

#define SPACE 4096 /* addresses of the random test */

static void map(struct address_map *r, uint64_t start, uint64_t end, uint64_t offset,
		uint32_t module)
{
	struct region region = {start, end, offset, module};

	ck_assert_int_eq(address_map__map(r, &region), 0);
}

static void check(const struct address_map *r, uint64_t address, uint32_t module, uint64_t offset)
{
	const struct region *found = address_map__find(r, address);

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->module, module);
	ck_assert_uint_eq(found->offset + (address - found->start), offset);
}

START_TEST(ends_belong_to_nobody)
{
	struct address_map r = {0};

	map(&r, 100, 200, 0, 1);
	ck_assert_ptr_null(address_map__find(&r, 99));
	check(&r, 100, 1, 0);
	check(&r, 199, 1, 99);
	ck_assert_ptr_null(address_map__find(&r, 200));
	address_map__free(&r);
}
END_TEST

START_TEST(the_middle_is_replaced)
{
	struct address_map r = {0};

	map(&r, 100, 200, 1000, 1);
	map(&r, 140, 160, 0, 2);
	ck_assert_uint_eq(r.n, 3);
	check(&r, 139, 1, 1039);
	check(&r, 140, 2, 0);
	check(&r, 160, 1, 1060);
	address_map__free(&r);
}
END_TEST

START_TEST(several_are_covered)
{
	struct address_map r = {0};

	map(&r, 100, 200, 0, 1);
	map(&r, 200, 300, 0, 2);
	map(&r, 300, 400, 0, 3);
	map(&r, 150, 350, 7, 4);
	ck_assert_uint_eq(r.n, 3);
	check(&r, 149, 1, 49);
	check(&r, 250, 4, 107);
	check(&r, 350, 3, 50);
	address_map__free(&r);
}
END_TEST

START_TEST(empty_ones_are_refused)
{
	struct address_map r = {0};
	struct region none = {100, 100, 0, 1}, backwards = {100, 50, 0, 1};

	ck_assert_int_eq(address_map__map(&r, &none), -EINVAL);
	ck_assert_int_eq(address_map__map(&r, &backwards), -EINVAL);
	ck_assert_uint_eq(r.n, 0);
}
END_TEST

/* Against an array that has the module and the offset of each single address. */
START_TEST(random_mappings_agree_with_an_array)
{
	static struct {
		uint32_t module;
		uint64_t offset;
	} truth[SPACE];
	struct address_map r = {0}, copy = {0};

	srandom(_i);
	for (int i = 0; i < SPACE; i++)
		truth[i].module = 0;
	for (uint32_t module = 1; module < 200; module++) {
		uint64_t start = random() % SPACE, size = 1 + random() % 300;
		uint64_t end = start + size < SPACE ? start + size : SPACE;

		map(&r, start, end, module * 10000, module);
		for (uint64_t a = start; a < end; a++) {
			truth[a].module = module;
			truth[a].offset = module * 10000 + a - start;
		}
	}
	ck_assert_int_eq(address_map__copy(&copy, &r), 0);
	ck_assert(address_map__equal(&copy, &r));
	copy.items[copy.n / 2].offset++;
	ck_assert(!address_map__equal(&copy, &r));
	copy.items[copy.n / 2].offset--;
	copy.n--;
	ck_assert(!address_map__equal(&copy, &r));
	copy.n++;
	for (uint64_t a = 0; a < SPACE; a++) {
		if (truth[a].module)
			check(&copy, a, truth[a].module, truth[a].offset);
		else
			ck_assert_ptr_null(address_map__find(&copy, a));
	}
	for (uint32_t i = 1; i < r.n; i++)
		ck_assert_uint_le(r.items[i - 1].end, r.items[i].start);
	address_map__free(&r);
	address_map__free(&copy);
}
END_TEST

Suite *suite_address_map(void)
{
	Suite *s = suite_create("address_map");
	TCase *c = tcase_create("map");

	tcase_add_test(c, ends_belong_to_nobody);
	tcase_add_test(c, the_middle_is_replaced);
	tcase_add_test(c, several_are_covered);
	tcase_add_test(c, empty_ones_are_refused);
	tcase_add_loop_test(c, random_mappings_agree_with_an_array, 0, 20);
	suite_add_tcase(s, c);
	return s;
}
