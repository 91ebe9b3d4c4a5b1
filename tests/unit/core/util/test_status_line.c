/* SPDX-License-Identifier: GPL-2.0-only */
/* What is written to a terminal for its last line. */
#include <string.h>
#include <unistd.h>

#include "core/util/status_line.h"
#include "tests/unit/suites.h"

static struct qz_status_line line;
static int reader;

static void open_line(void)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	reader = fds[0];
	line = (struct qz_status_line) {.fd = fds[1]};
}

static void close_line(void)
{
	close(reader);
	close(line.fd);
}

/* What was written since; nothing may be there to read otherwise. */
static void assert_written(const char *expected)
{
	char out[1000] = "";

	if (*expected)
		ck_assert_int_gt(read(reader, out, sizeof(out) - 1), 0);
	ck_assert_str_eq(out, expected);
}

#define SCROLL(last) "\033D\0337\033[1;" last "r\0338\033[1A"

START_TEST(the_rest_scrolls_while_it_is_there)
{
	qz_status_line__show(&line, 24, 80, "one");
	assert_written(SCROLL("23") "\0337\033[24;1H\033[2Kone\0338");
	qz_status_line__show(&line, 24, 80, "two");
	assert_written("\0337\033[24;1H\033[2Ktwo\0338");
	qz_status_line__hide(&line);
	assert_written(SCROLL("24") "\0337\033[24;1H\033[2K\0338");
	ck_assert_int_eq(line.rows, 0);
}
END_TEST

START_TEST(it_is_cut_and_follows_the_size)
{
	qz_status_line__show(&line, 10, 5, "longer");
	assert_written(SCROLL("9") "\0337\033[10;1H\033[2Klong\0338");
	qz_status_line__show(&line, 12, 80, "longer");
	assert_written(SCROLL("11") "\0337\033[12;1H\033[2Klonger\0338");
}
END_TEST

START_TEST(small_terminals_have_none)
{
	struct qz_status_line before = {0};

	qz_status_line__show(&line, QZ_STATUS_LINE_ROWS - 1, 80, "text");
	qz_status_line__show(&line, 24, 1, "text");
	qz_status_line__hide(&line);
	ck_assert_int_eq(line.rows, before.rows);
	qz_status_line__show(&line, QZ_STATUS_LINE_ROWS, 80, "text");
	assert_written(SCROLL("4") "\0337\033[5;1H\033[2Ktext\0338");
	qz_status_line__show(&line, QZ_STATUS_LINE_ROWS - 1, 80, "text");
	assert_written(SCROLL("5") "\0337\033[5;1H\033[2K\0338");
}
END_TEST

Suite *suite_status_line(void)
{
	Suite *s = suite_create("status_line");
	TCase *tc = tcase_create("status_line");

	tcase_add_checked_fixture(tc, open_line, close_line);
	tcase_add_test(tc, the_rest_scrolls_while_it_is_there);
	tcase_add_test(tc, it_is_cut_and_follows_the_size);
	tcase_add_test(tc, small_terminals_have_none);
	suite_add_tcase(s, tc);
	return s;
}
