/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs under libquartz-try. */
#include <check.h>
#include <stdlib.h>

#include "tests/unit/suites.h"
#include "tests/userlib/programs.h"

/* What the program prints with this library. */
static void check_output(const char *library, const char *wanted)
{
	char *text;

	setenv("LD_PRELOAD", library, 1);
	text = program__output("try");
	unsetenv("LD_PRELOAD");
	ck_assert_str_eq(text, wanted);
	free(text);
}

START_TEST(default_mutexes_become_adaptive)
{
	check_output("", "default, recursive\n");
	check_output(TEST_BUILD "/libquartz-try.so", "adaptive, recursive\n");
}
END_TEST

Suite *suite_try(void)
{
	Suite *suite = suite_create("try");
	TCase *tcase = tcase_create("all");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, default_mutexes_become_adaptive);
	suite_add_tcase(suite, tcase);
	return suite;
}
