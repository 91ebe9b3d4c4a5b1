/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "core/util/options.h"
#include "core/util/suggest.h"
#include "tests/unit/suites.h"

static const char *const words[] = {"record", "report", "threads", "ps", "status", "duration"};

static const struct {
	const char *written, *meant; /* NULL: nothing */
} table[] = {
	{"recrod", "record"},
	{"repotr", "report"},
	{"thread", "threads"},
	{"theads", "threads"},
	{"stat", "status"},
	{"psx", "ps"},
	{"durations", "duration"},
	{"", NULL},
	{"p", NULL},
	{"stop", NULL},
	{"recognized", NULL},
	{"top", NULL},
	{"an-option-that-is-longer-than-any-word-that-there-is", NULL},
};

START_TEST(nearest)
{
	struct qz_suggestion s = {0};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		qz_suggestion__try(&s, table[_i].written, words[i]);
	if (table[_i].meant) {
		ck_assert_ptr_nonnull(s.word);
		ck_assert_str_eq(s.word, table[_i].meant);
	} else {
		ck_assert_ptr_null(s.word);
	}
}
END_TEST

struct config {
	struct qz_integers pids;
};

static const struct qz_option options[] = {
	{"pid", 'p', QZ_OPTION_INTEGERS, offsetof(struct config, pids), "PID", "Processes.", 1, 99},
	{"page-rate", 0, QZ_OPTION_FLAG, 0, NULL, "Another one."},
	{0},
};

static int parse(struct config *c, const char *a, const char *b, char *why, size_t size)
{
	char *argv[] = {(char *)"test", (char *)a, (char *)b, NULL};

	*c = (struct config) {0};
	return qz_options__parse(b ? 3 : 2, argv, options, c, why, size);
}

START_TEST(lists)
{
	static const char *const bad[] = {
		"",	",",	"1,",
		",1",	"1,,2", "1,100",
		"1, 2", "0",	"1,00000000000000000000000000000000000002"};
	struct config c;
	char why[200];

	ck_assert_int_eq(parse(&c, "-p1,22", "--pid=3", why, sizeof(why)), 3);
	ck_assert_uint_eq(c.pids.n, 3);
	ck_assert_int_eq(c.pids.items[0], 1);
	ck_assert_int_eq(c.pids.items[1], 22);
	ck_assert_int_eq(c.pids.items[2], 3);
	free(c.pids.items);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_int_lt(parse(&c, "-p", bad[i], why, sizeof(why)), 0);
		ck_assert_uint_eq(c.pids.n, 0);
		free(c.pids.items);
	}
}
END_TEST

START_TEST(misspelt)
{
	char why[200], small[20];
	struct config c;

	parse(&c, "--pagerate", NULL, why, sizeof(why));
	ck_assert_str_eq(why, "unknown option '--pagerate' (did you mean '--page-rate'?)");
	parse(&c, "--p", NULL, why, sizeof(why));
	ck_assert_str_eq(why, "ambiguous option '--p': --pid, --page-rate");
	parse(&c, "--p", NULL, small, sizeof(small));
	ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
	parse(&c, "--=1", NULL, why, sizeof(why));
	ck_assert_ptr_nonnull(strstr(why, "option '--=1'"));
}
END_TEST

Suite *suite_suggest(void)
{
	Suite *s = suite_create("suggest");
	TCase *tc = tcase_create("suggest");

	tcase_add_loop_test(tc, nearest, 0, sizeof(table) / sizeof(*table));
	tcase_add_test(tc, lists);
	tcase_add_test(tc, misspelt);
	suite_add_tcase(s, tc);
	return s;
}
