/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules by name on procedures that wait. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/spin_rules.h"
#include "daemon/spin/spin_symbols.h"
#include "tests/unit/suites.h"

static struct spin_rules rules;
static char error[256];

static int add(const char *text)
{
	return spin_rules__add(&rules, "rules", text, strlen(text), error, sizeof(error));
}

static void check(const char *module, const char *procedure, enum spin_rule_kind kind)
{
	ck_assert_msg(spin_rules__find(&rules, module, procedure) == kind, "%s:%s", module,
		      procedure);
}

static void teardown(void)
{
	spin_rules__free(&rules);
}

START_TEST(rules_of_callers_are_of_modules)
{
	ck_assert_int_eq(add("+libcomm*:progress\n"), 0);
	check("/usr/lib/libcomm.so.1", "progress", SPIN_RULE_BELOW);
	check("/usr/lib/libcomm.so.1", "compute", SPIN_RULE_NONE);
	ck_assert(spin_rules__have_below(&rules, "/usr/lib/libcomm.so.1"));
	ck_assert(!spin_rules__have_below(&rules, "/usr/lib/libc.so.6"));
	ck_assert_int_eq(add("+progress\n"), -EINVAL);
}
END_TEST

START_TEST(rules_of_calls_that_ask_are_of_the_kernel)
{
	ck_assert_int_eq(add("-[kernel]:*_sys_*poll\n![kernel]:copied*\n"), 0);
	check(SPIN_RULES_KERNEL, "__x64_sys_poll", SPIN_RULE_ASKS);
	check(SPIN_RULES_KERNEL, "copied_to_user", SPIN_RULE_WORKS);
	check("libc.so.6", "__sys_poll", SPIN_RULE_NONE);
	ck_assert_int_eq(add("-poll\n"), -EINVAL);
	ck_assert_int_eq(add("-libc*:poll\n"), -EINVAL);
}
END_TEST

START_TEST(patterns_fit_whole_names)
{
	ck_assert(spin_rules__matches("a", "a"));
	ck_assert(!spin_rules__matches("a", "ab"));
	ck_assert(!spin_rules__matches("ab", "a"));
	ck_assert(!spin_rules__matches("a", ""));
	ck_assert(spin_rules__matches("*", ""));
	ck_assert(spin_rules__matches("a*", "a"));
	ck_assert(spin_rules__matches("*b*d", "abcbcd"));
	ck_assert(!spin_rules__matches("*b*d", "abcbc"));
	ck_assert(spin_rules__matches("a?c", "abc"));
	ck_assert(!spin_rules__matches("a?c", "ac"));
	ck_assert(spin_rules__matches("*[x]*", "a[x]b"));
	ck_assert(!spin_rules__matches("[x]", "x"));
}
END_TEST

/* Many stars and near misses: at worst the product of the lengths, so this ends. */
START_TEST(hard_patterns_end)
{
	static char pattern[256], text[4096];

	for (size_t i = 0; i + 2 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	memset(text, 'a', sizeof(text) - 1);
	ck_assert(!spin_rules__matches(pattern, text));
}
END_TEST

START_TEST(a_rule_holds_for_any_program_but_not_for_the_kernel)
{
	ck_assert_int_eq(add("wait\n"), 0);
	check("/usr/lib/libfoo.so", "wait", SPIN_RULE_WAITS);
	check("foo", "wait", SPIN_RULE_WAITS);
	check("foo", "waits", SPIN_RULE_NONE);
	check(SPIN_RULES_KERNEL, "wait", SPIN_RULE_NONE);
}
END_TEST

START_TEST(a_rule_can_name_its_module)
{
	ck_assert_int_eq(add("libfoo.so*:wait\n[kernel]:lock"), 0);
	check("/a/libbar/libfoo.so.1", "wait", SPIN_RULE_WAITS);
	check("/a/libfoo.so/bar", "wait", SPIN_RULE_NONE);
	check(SPIN_RULES_KERNEL, "lock", SPIN_RULE_WAITS);
	check("/kernel", "lock", SPIN_RULE_NONE);
}
END_TEST

START_TEST(colons_of_names_are_no_modules)
{
	ck_assert_int_eq(add("a::b::wait(int*, char)\nlibc*:d::wait"), 0);
	check("x", "a::b::wait(int*, char)", SPIN_RULE_WAITS);
	check("libc.so", "d::wait", SPIN_RULE_WAITS);
	check("x", "d::wait", SPIN_RULE_NONE);
}
END_TEST

START_TEST(the_last_rule_wins)
{
	ck_assert_int_eq(add("spin*\n  ~spin_lock  \r\n# !spin_wait\n\n!spin_work\n"), 0);
	check("x", "spin_any", SPIN_RULE_WAITS);
	check("x", "spin_wait", SPIN_RULE_WAITS);
	check("x", "spin_lock", SPIN_RULE_MAY);
	check("x", "spin_work", SPIN_RULE_WORKS);
	ck_assert_int_eq(add("spin_work"), 0);
	check("x", "spin_work", SPIN_RULE_WAITS);
}
END_TEST

START_TEST(lines_that_are_no_rules_are_named)
{
	static const char *const lines[] = {"!",   "~",	   ":a", "a:",	"*",	 "?*",
					    "*:*", "a: b", "!*", "~:a", "a\001b"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[64];

		snprintf(text, sizeof(text), "good\n%s\nmore\n", lines[i]);
		ck_assert_msg(add(text) == -EINVAL, "%s", lines[i]);
		ck_assert_msg(!strncmp(error, "rules:2: ", 9), "%s", error);
	}
}
END_TEST

START_TEST(rules_are_bounded)
{
	char line[SPIN_RULES_MAX_LINE + 2];
	char *text = malloc(SPIN_RULES_MAX_TEXT + 1);

	memset(line, 'a', sizeof(line));
	ck_assert_int_eq(spin_rules__add(&rules, "rules", line, SPIN_RULES_MAX_LINE, error,
					 sizeof(error)),
			 0);
	ck_assert_int_eq(spin_rules__add(&rules, "rules", line, SPIN_RULES_MAX_LINE + 1, error,
					 sizeof(error)),
			 -EINVAL);
	memset(text, '\n', SPIN_RULES_MAX_TEXT + 1);
	ck_assert_int_eq(spin_rules__add(&rules, "rules", text, SPIN_RULES_MAX_TEXT, error,
					 sizeof(error)),
			 0);
	ck_assert_int_eq(spin_rules__add(&rules, "rules", text, SPIN_RULES_MAX_TEXT + 1, error,
					 sizeof(error)),
			 -EINVAL);
	for (uint32_t i = 0; i < SPIN_RULES_MAX; i++)
		memcpy(text + 2 * i, "b\n", 2);
	ck_assert_int_eq(spin_rules__add(&rules, "rules", text, 2 * SPIN_RULES_MAX, error,
					 sizeof(error)),
			 -E2BIG);
	ck_assert_msg(strstr(error, ":4096: "), "%s", error);
	free(text);
}
END_TEST

START_TEST(the_built_in_rules_are_good_and_unique)
{
	ck_assert_msg(!spin_rules__add(&rules, "built-in", spin_symbols_builtin,
				       spin_symbols_builtin_size, error, sizeof(error)),
		      "%s", error);
	ck_assert_uint_gt(rules.n, 0);
	for (uint32_t i = 0; i < rules.n; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct spin_rule *a = &rules.items[i], *b = &rules.items[k];

			ck_assert_msg(strcmp(a->procedure, b->procedure) ||
					      !a->module != !b->module ||
					      (a->module && strcmp(a->module, b->module)),
				      "%s twice", a->procedure);
		}
	check("/lib/libc.so.6", "pthread_spin_lock", SPIN_RULE_MAY);
	check("/lib/libc.so.6", "sched_yield", SPIN_RULE_WAITS);
	check("/lib/libc.so.6", "pthread_mutex_lock", SPIN_RULE_NONE);
	check("/lib/libomp-14.so.5",
	      "bool __kmp_wait_template<kmp_flag_64<false, true>, true, false, true>(kmp_info*, "
	      "kmp_flag_64<false, true>*, void*)",
	      SPIN_RULE_WAITS);
	check(SPIN_RULES_KERNEL, "native_queued_spin_lock_slowpath", SPIN_RULE_WAITS);
	check(SPIN_RULES_KERNEL, "schedule", SPIN_RULE_NONE);
	check("[vdso]", "", SPIN_RULE_WORKS);
}
END_TEST

Suite *suite_spin_rules(void)
{
	Suite *s = suite_create("spin_rules");
	TCase *c = tcase_create("rules");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, patterns_fit_whole_names);
	tcase_add_test(c, rules_of_callers_are_of_modules);
	tcase_add_test(c, rules_of_calls_that_ask_are_of_the_kernel);
	tcase_add_test(c, hard_patterns_end);
	tcase_add_test(c, a_rule_holds_for_any_program_but_not_for_the_kernel);
	tcase_add_test(c, a_rule_can_name_its_module);
	tcase_add_test(c, colons_of_names_are_no_modules);
	tcase_add_test(c, the_last_rule_wins);
	tcase_add_test(c, lines_that_are_no_rules_are_named);
	tcase_add_test(c, rules_are_bounded);
	tcase_add_test(c, the_built_in_rules_are_good_and_unique);
	suite_add_tcase(s, c);
	return s;
}
