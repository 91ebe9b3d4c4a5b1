/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "core/util/preorder.h"
#include "tests/unit/suites.h"

struct node {
	uint32_t parent;
	char name;
};

START_TEST(puts_each_behind_its_parent_and_the_siblings_before)
{
	/* a(c(e), d), b(f), in the order in which a program met them */
	const struct node nodes[] = {{UINT32_MAX, 'a'}, {UINT32_MAX, 'b'}, {0, 'c'},
				     {0, 'd'},		{2, 'e'},	   {1, 'f'}};
	const char wanted[] = "acedbf";
	uint32_t *places = qz_preorder__places(nodes, sizeof(nodes[0]), 6);

	ck_assert_ptr_nonnull(places);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_int_eq(wanted[places[i]], nodes[i].name);
	free(places);
}
END_TEST

START_TEST(knows_a_root_that_is_its_own_parent)
{
	const struct node nodes[] = {{0, 'r'}, {0, 'a'}, {0, 'b'}, {1, 'c'}};
	const char wanted[] = "racb";
	uint32_t *places = qz_preorder__places(nodes, sizeof(nodes[0]), 4);

	ck_assert_ptr_nonnull(places);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_int_eq(wanted[places[i]], nodes[i].name);
	free(places);
	places = qz_preorder__places(nodes, sizeof(nodes[0]), 0);
	ck_assert_ptr_nonnull(places);
	free(places);
}
END_TEST

Suite *suite_preorder(void)
{
	Suite *s = suite_create("preorder");
	TCase *tc = tcase_create("preorder");

	tcase_add_test(tc, puts_each_behind_its_parent_and_the_siblings_before);
	tcase_add_test(tc, knows_a_root_that_is_its_own_parent);
	suite_add_tcase(s, tc);
	return s;
}
