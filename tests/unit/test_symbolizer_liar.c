/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A symbolizer that strangers' files have taken over must not get further than itself.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/suites.h"
#include "tests/unit/symbolizer_util.h"

static struct symbolizer *start_liar(void)
{
	struct symbolizer_options options = {.program = util__fixture("liar")};
	struct symbolizer *s = symbolizer__new(&options);

	ck_assert_ptr_nonnull(s);
	return s;
}

static int add(struct symbolizer *s, const char *lie)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char path[64];
	int module;

	snprintf(path, sizeof(path), "/x/%s", lie);
	module = symbolizer__add_module(s, SYMBOLIZER_ELF, fd, -1, path);
	ck_assert_int_ge(module, 0);
	return module;
}

static void check_honest(struct symbolizer *s)
{
	struct symbolizer_answer a;
	uint64_t address = 1;

	ck_assert_int_eq(symbolizer__resolve(s, add(s, "honest"), &address, 1, &a), 0);
	ck_assert(a.found);
	ck_assert_str_eq(a.frames[0].name, "name");
	ck_assert_str_eq(a.frames[0].file, "");
}

/* Told for one address; each costs the child its life, or is its end. */
static const char *const lies[] = {
	"load-short", "load-build-id", "load-error", "load-exit",   "none",
	"many",	      "most",	       "frames",     "text-size",   "error",
	"name",	      "file",	       "frameless",  "more-frames", "most-frames",
	"not-found",  "unterminated",  "long-name",  "type",	    "id",
	"short",      "cut",	       "huge",	     "descriptor",  "exit",
	"flood",
};

START_TEST(ends_a_child_that_lies)
{
	struct symbolizer *s = start_liar();
	struct symbolizer_answer a;
	uint64_t address = 1;
	int module;

	check_honest(s);
	module = add(s, lies[_i]);
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), -ETIME);
	ck_assert_uint_eq(symbolizer__counters(s)->killed + symbolizer__counters(s)->crashed, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, 1);
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), -ETIME);
	check_honest(s);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	symbolizer__free(s);
}
END_TEST

static const char *const unwind_lies[] = {"unwind-n", "unwind-more", "unwind-complete",
					  "unwind-flood"};

START_TEST(ends_a_child_that_lies_about_stacks)
{
	struct symbolizer *s = start_liar();
	struct symbolizer_region region = {0x1000, 0x2000, 0, (uint32_t)add(s, unwind_lies[_i])};
	struct symbolizer_registers registers = {.ip = 0x1100, .sp = 0x8000};
	uint64_t stack[4] = {0}, addresses[8];
	bool complete;
	size_t n;

	ck_assert_int_eq(symbolizer__unwind(s, &region, 1, &registers, stack, sizeof(stack),
					    addresses, 8, &n, &complete),
			 -ETIME);
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 1);
	check_honest(s);
	symbolizer__free(s);
}
END_TEST

static const char *const table_lies[] = {
	"table-none",	  "table-many",	 "table-more", "table-fewer", "table-error",
	"table-segments", "table-short", "rows-order", "rows-kind",   "rows-rbp",
	"rows-none",	  "rows-cut",	 "rows-exit",  "rows-type",   "rows-id",
};

static int ask_table(struct symbolizer *s, int module)
{
	struct symbolizer_table table;
	struct qz_unwind_row *rows = NULL;
	const char *build_id;
	uint32_t n;
	int err;

	/* The child learns what its lie is. */
	err = symbolizer__build_id(s, module, &build_id);
	if (!err)
		err = symbolizer__unwind_table(s, module, &rows, &n, &table);
	if (!err)
		ck_assert_uint_eq(n, 2);
	free(rows);
	return err;
}

START_TEST(ends_a_child_that_lies_about_tables)
{
	struct symbolizer *s = start_liar();
	int module = add(s, table_lies[_i]);

	ck_assert_int_eq(ask_table(s, add(s, "honest")), 0);
	ck_assert_int_eq(ask_table(s, module), -ETIME);
	ck_assert_uint_eq(symbolizer__counters(s)->killed + symbolizer__counters(s)->crashed, 1);
	ck_assert_int_eq(ask_table(s, module), -ETIME);
	ck_assert_int_eq(ask_table(s, add(s, "honest")), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	symbolizer__free(s);
}
END_TEST

static const char *const verdict_lies[] = {
	"verdict-none",	 "verdict-many",	 "verdict-most", "verdict-error",
	"verdict-class", "verdict-range",	 "verdict-name", "verdict-procedure",
	"verdict-text",	 "verdict-unterminated", "verdict-cut",
};

START_TEST(ends_a_child_that_lies_about_verdicts)
{
	struct symbolizer *s = start_liar();
	struct symbolizer_verdict v;
	uint64_t address = 1;
	int module = add(s, verdict_lies[_i]);

	ck_assert_int_eq(symbolizer__judge(s, add(s, "honest"), &address, 1, &v), 0);
	ck_assert_int_eq(v.spin, QZ_SPIN_PURE);
	ck_assert_str_eq(v.procedure, "name");
	ck_assert_int_eq(symbolizer__judge(s, module, &address, 1, &v), -ETIME);
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 1);
	ck_assert_int_eq(symbolizer__judge(s, module, &address, 1, &v), -ETIME);
	check_honest(s);
	symbolizer__free(s);
}
END_TEST

Suite *suite_symbolizer_liar(void)
{
	Suite *suite = suite_create("symbolizer_liar");
	TCase *tcase = tcase_create("answers");

	tcase_add_loop_test(tcase, ends_a_child_that_lies, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_stacks, 0,
			    sizeof(unwind_lies) / sizeof(unwind_lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_tables, 0,
			    sizeof(table_lies) / sizeof(table_lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_verdicts, 0,
			    sizeof(verdict_lies) / sizeof(verdict_lies[0]));
	suite_add_tcase(suite, tcase);
	return suite;
}
