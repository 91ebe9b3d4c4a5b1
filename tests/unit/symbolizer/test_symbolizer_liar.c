/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A symbolizer that strangers' files have taken over must not get further than itself.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/target/debug_files.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

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
	"load-short", "load-build-id", "load-shared", "load-link", "load-error",  "load-exit",
	"none",	      "many",	       "most",	      "frames",	   "text-size",	  "error",
	"name",	      "file",	       "line-file",   "frameless", "more-frames", "most-frames",
	"not-found",  "unterminated",  "long-name",   "type",	   "id",	  "short",
	"cut",	      "huge",	       "descriptor",  "exit",
};

/* A child that ends or falls silent may have been ended by others: what it was asked is asked again later. */
static bool may_be_an_accident(const char *lie)
{
	return strstr(lie, "exit") || !strcmp(lie, "table-more");
}

START_TEST(ends_a_child_that_lies)
{
	int expected = may_be_an_accident(lies[_i]) ? -EAGAIN : -ETIME;
	struct symbolizer *s = start_liar();
	struct symbolizer_answer a;
	uint64_t address = 1;
	int module;

	check_honest(s);
	module = add(s, lies[_i]);
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), expected);
	ck_assert_uint_eq(symbolizer__counters(s)->killed + symbolizer__counters(s)->crashed, 1);
	ck_assert_uint_eq(symbolizer__counters(s)->modules_refused, expected == -ETIME);
	ck_assert_int_eq(symbolizer__resolve(s, module, &address, 1, &a), expected);
	check_honest(s);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
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
	int expected = may_be_an_accident(table_lies[_i]) ? -EAGAIN : -ETIME;

	ck_assert_int_eq(ask_table(s, add(s, "honest")), 0);
	ck_assert_int_eq(ask_table(s, module), expected);
	ck_assert_uint_eq(symbolizer__counters(s)->killed + symbolizer__counters(s)->crashed, 1);
	ck_assert_int_eq(ask_table(s, module), expected);
	ck_assert_int_eq(ask_table(s, add(s, "honest")), 0);
	ck_assert_uint_eq(symbolizer__counters(s)->started, 2);
	symbolizer__free(s);
}
END_TEST

static const char *const spin_lies[] = {
	"spin-none", "spin-many",      "spin-most", "spin-error",	 "spin-class", "spin-range",
	"spin-name", "spin-procedure", "spin-text", "spin-unterminated", "spin-cut",
};

START_TEST(ends_a_child_that_lies_about_spinning)
{
	struct symbolizer *s = start_liar();
	struct spin_record v;
	uint64_t address = 1;
	int module = add(s, spin_lies[_i]);

	ck_assert_int_eq(symbolizer__classify(s, add(s, "honest"), &address, 1, &v), 0);
	ck_assert_int_eq(v.code.class, QZ_SPIN_PURE);
	ck_assert_str_eq(symbolizer__procedure(s, &v), "name");
	ck_assert_int_eq(symbolizer__classify(s, module, &address, 1, &v), -ETIME);
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 1);
	ck_assert_int_eq(symbolizer__classify(s, module, &address, 1, &v), -ETIME);
	check_honest(s);
	symbolizer__free(s);
}
END_TEST

static const char *const split_lies[] = {
	"split-error",	    "split-size", "split-most", "split-unterminated",
	"split-short-name", "split-cut",  "split-long",
};

START_TEST(ends_a_child_that_lies_about_files)
{
	struct symbolizer *s = start_liar();
	struct symbolizer_split next;
	uint64_t address = 1;
	int module = add(s, split_lies[_i]);

	ck_assert_int_eq(symbolizer__complete(s, add(s, "honest"), -1, &address, 1, &next), 0);
	ck_assert_str_eq(next.name, "");
	ck_assert_int_eq(symbolizer__complete(s, module, -1, &address, 1, &next), -ETIME);
	ck_assert_str_eq(next.name, "");
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 1);
	ck_assert_int_eq(symbolizer__complete(s, module, -1, &address, 1, &next), -ETIME);
	check_honest(s);
	symbolizer__free(s);
}
END_TEST

START_TEST(looks_for_no_more_files_than_there_are_addresses)
{
	struct symbolizer *s = start_liar();
	const uint64_t addresses[] = {1, 2, 3};
	int module = add(s, "split-endless"), of = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert(!debug_files__complete(s, module, of, addresses, 3, "endless", false));
	ck_assert_uint_eq(symbolizer__counters(s)->killed, 0);
	close(of);
	symbolizer__free(s);
}
END_TEST

Suite *suite_symbolizer_liar(void)
{
	Suite *suite = suite_create("symbolizer_liar");
	TCase *tcase = tcase_create("answers");

	tcase_add_loop_test(tcase, ends_a_child_that_lies, 0, sizeof(lies) / sizeof(lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_tables, 0,
			    sizeof(table_lies) / sizeof(table_lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_spinning, 0,
			    sizeof(spin_lies) / sizeof(spin_lies[0]));
	tcase_add_loop_test(tcase, ends_a_child_that_lies_about_files, 0,
			    sizeof(split_lies) / sizeof(split_lies[0]));
	tcase_add_test(tcase, looks_for_no_more_files_than_there_are_addresses);
	suite_add_tcase(suite, tcase);
	return suite;
}
