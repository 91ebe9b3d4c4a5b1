/* SPDX-License-Identifier: GPL-2.0-only */
/* The slices of a run, while the clock of the day is set. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/output/history.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define START	1700000000000ull
#define MINUTE	60000ull
#define DAY	(24 * 60 * MINUTE)
#define HOUR_NS (3600 * 1000000000ull)

static char state[] = "/tmp/quartz-history.XXXXXX";
static struct history *h;
static struct history_time now;
static struct fixture f;

static void begin(uint64_t age, uint64_t bytes)
{
	now = (struct history_time) {START, 5000};
	h = history__new(age, bytes, &now);
	ck_assert_ptr_nonnull(h);
	f = fixture__new();
	fixture__scope(&f, (const uint64_t[]) {1000, 1000}, 2);
	ck_assert_int_eq(f.err, 0);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(strcpy(state, "/tmp/quartz-history.XXXXXX")));
	setenv("QUARTZ_STATE_DIR", state, 1);
}

/* The names, each as its begin and end in minutes after the start, in the order of the text. */
static const char *names(char text[1024])
{
	char path[512];
	struct dirent **all;
	int n;

	snprintf(path, sizeof(path), "%s/history", state);
	n = scandir(path, &all, NULL, alphasort);
	ck_assert_int_ge(n, 2);
	*text = '\0';
	for (int i = 0; i < n; free(all[i++])) {
		uint64_t from, until;

		if (sscanf(all[i]->d_name, "%" SCNu64 "-%" SCNu64, &from, &until) == 2)
			sprintf(text + strlen(text), "%" PRId64 "-%" PRId64 " ",
				(int64_t)(from - START) / (int64_t)MINUTE,
				(int64_t)(until - START) / (int64_t)MINUTE);
	}
	free(all);
	return text;
}

static void teardown(void)
{
	char command[256];

	history__free(h);
	qz_profile__free(f.p);
	snprintf(command, sizeof(command), "rm -r %s", state);
	ck_assert_int_eq(system(command), 0);
	unsetenv("QUARTZ_STATE_DIR");
}

/* Slices of a minute each, the clock of the day being set by so much before the first one is cut. */
static void cut(int n, int64_t set_ms)
{
	now.wall_ms += (uint64_t)set_ms;
	for (; n > 0; n--) {
		now.wall_ms += MINUTE;
		now.steady_ms += MINUTE;
		ck_assert_int_eq(history__cut(h, f.p, &now), 0);
	}
}

START_TEST(a_clock_ahead_for_a_while_makes_nothing_old)
{
	char text[1024];

	begin(6 * HOUR_NS, 1 << 30);
	cut(3, 0);
	cut(2, (int64_t)DAY);
	cut(2, -(int64_t)DAY);
	ck_assert_str_eq(names(text), "0-1 1-2 2-3 5-6 6-7 1443-1444 1444-1445 ");
}
END_TEST

START_TEST(a_clock_that_is_set_back_names_what_it_shows)
{
	char text[1024];

	begin(6 * HOUR_NS, 1 << 30);
	cut(3, 0);
	cut(2, -2 * (int64_t)MINUTE);
	/* the first is as long as it was, and the other one's name is taken */
	ck_assert_str_eq(names(text), "0-1 1-2 1-2 2-3 2-3 ");
}
END_TEST

START_TEST(what_is_too_old_goes)
{
	char text[1024];

	begin(HOUR_NS / 20, 1 << 30); /* three minutes */
	cut(9, 0);
	ck_assert_str_eq(names(text), "5-6 6-7 7-8 8-9 ");
}
END_TEST

/* If all are too large, those go first that are named after a time to come. */
START_TEST(names_of_tomorrow_go_first)
{
	char text[1024];

	begin(6 * HOUR_NS, 6 * 4096);
	cut(4, 0);
	cut(2, (int64_t)DAY);
	cut(2, -(int64_t)DAY);
	ck_assert_str_eq(names(text), "0-1 1-2 2-3 3-4 6-7 7-8 ");
}
END_TEST

/* The clock of the day is steered, by a little, all the time. */
START_TEST(slices_follow_each_other)
{
	char path[512];
	struct dirent **all;
	uint64_t from, until, last = START;
	int n;

	begin(6 * HOUR_NS, 1 << 30);
	for (int i = 0; i < 5; i++)
		cut(1, i % 2 ? -30 : 20);
	snprintf(path, sizeof(path), "%s/history", state);
	n = scandir(path, &all, NULL, alphasort);
	for (int i = 0; i < n; free(all[i++])) {
		if (sscanf(all[i]->d_name, "%" SCNu64 "-%" SCNu64, &from, &until) != 2)
			continue;
		ck_assert_uint_eq(from, last);
		last = until;
	}
	free(all);
	ck_assert_uint_eq(last, now.wall_ms);
}
END_TEST

/* By a quartzd that was killed over them; they count for no limit of age or size. */
START_TEST(parts_of_slices_go)
{
	char part[512], text[1024];

	begin(6 * HOUR_NS, 1 << 30);
	cut(1, 0);
	history__free(h);
	qz_profile__free(f.p);
	snprintf(part, sizeof(part), "%s/history/1-2.pb.gz.123.part", state);
	fclose(fopen(part, "w"));
	begin(6 * HOUR_NS, 1 << 30);
	ck_assert_int_ne(access(part, F_OK), 0);
	ck_assert_str_eq(names(text), "0-1 ");
}
END_TEST

Suite *suite_history(void)
{
	Suite *suite = suite_create("history");
	TCase *clocks = tcase_create("clocks");

	tcase_add_checked_fixture(clocks, setup, teardown);
	tcase_add_test(clocks, a_clock_ahead_for_a_while_makes_nothing_old);
	tcase_add_test(clocks, a_clock_that_is_set_back_names_what_it_shows);
	tcase_add_test(clocks, what_is_too_old_goes);
	tcase_add_test(clocks, names_of_tomorrow_go_first);
	tcase_add_test(clocks, slices_follow_each_other);
	tcase_add_test(clocks, parts_of_slices_go);
	suite_add_tcase(suite, clocks);
	return suite;
}
