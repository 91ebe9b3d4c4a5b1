/* SPDX-License-Identifier: GPL-2.0-only */
/* The section EXIT STATUS of each manual page has the statuses of its program, and no other. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/exit_status.h"
#include "tests/unit/suites.h"

#define ROW(name, number, programs) {number, programs},
static const struct {
	int number;
	unsigned int programs;
} table[] = {QZ_EXIT_STATUSES(ROW)};

static const struct {
	const char *page;
	enum qz_program program;
} pages[] = {
	{TEST_TREE "/man/quartzctl.1.scd", QZ_QUARTZCTL},
	{TEST_TREE "/man/quartzd.8.scd", QZ_QUARTZD},
	{TEST_TREE "/man/quartz-exporter.8.scd", QZ_EXPORTER},
};
#define NPAGES ((int)(sizeof(pages) / sizeof(pages[0])))

static int next_documented(FILE *page, bool *inside)
{
	char line[2048];
	int number, length;

	while (fgets(line, sizeof(line), page)) {
		if (line[0] == '#')
			*inside = !strcmp(line, "# EXIT STATUS\n");
		length = 0;
		if (*inside && sscanf(line, "*%d*%n", &number, &length) == 1 && length &&
		    line[length] == '\n')
			return number;
	}
	return -1;
}

START_TEST(pages_have_the_statuses_of_their_programs)
{
	FILE *page = fopen(pages[_i].page, "r");
	bool inside = false;

	ck_assert_msg(page, "cannot open %s", pages[_i].page);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].programs & pages[_i].program)
			ck_assert_int_eq(next_documented(page, &inside), table[i].number);
	ck_assert_int_eq(next_documented(page, &inside), -1);
	fclose(page);
}
END_TEST

Suite *suite_exit_status(void)
{
	Suite *s = suite_create("exit_status");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, pages_have_the_statuses_of_their_programs, 0, NPAGES);
	suite_add_tcase(s, tc);
	return s;
}
