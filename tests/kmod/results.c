/* SPDX-License-Identifier: GPL-2.0-only */
/* What is published stands under /sys/kernel/quartz, and only while it should. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kmod/device.h"

#define ROOT "/sys/kernel/quartz/"

static char text[8192];

/* The contents of a file without its last newline, of which there must be one. */
static const char *contents(const char *path)
{
	char full[256];
	int fd;
	ssize_t n;

	snprintf(full, sizeof(full), ROOT "%s", path);
	fd = open(full, O_RDONLY);
	ck_assert_msg(fd >= 0, "%s: %d", full, errno);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(text[n - 1], '\n');
	text[n - 1] = '\0';
	return text;
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	char full[256];

	snprintf(full, sizeof(full), ROOT "%s", path);
	ck_assert_int_eq(stat(full, &st), 0);
	return st.st_mode & 0777;
}

static bool exists(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), ROOT "%s", path);
	return access(full, F_OK) == 0;
}

START_TEST(totals)
{
	struct qz_ioc_publish p = {.size = sizeof(p),
				   .targets = 3,
				   .effective_milli = 2042,
				   .nominal_milli = 7,
				   .samples = 1ull << 60,
				   .lost = 5,
				   .overhead_ppm = 6};
	int fd = device();

	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &p), -EPERM);
	ck_assert_str_eq(contents("enabled"), "0");
	listen_on(fd);
	ck_assert_str_eq(contents("enabled"), "1");
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &p), 0);
	ck_assert_str_eq(contents("targets"), "3");
	ck_assert_str_eq(contents("effective_parallelism"), "2.042");
	ck_assert_str_eq(contents("nominal_parallelism"), "0.007");
	ck_assert_str_eq(contents("samples"), "1152921504606846976");
	ck_assert_str_eq(contents("lost"), "5");
	ck_assert_str_eq(contents("overhead_ppm"), "6");
	ck_assert_int_ge(atol(contents("heartbeat_age_ms")), 0);
	close(fd);
	ck_assert_str_eq(contents("enabled"), "0");
	ck_assert_str_eq(contents("targets"), "3");
}
END_TEST

static __u64 levels[600];
static struct qz_top_row rows[QZ_TOP_MAX + 1];

static struct qz_ioc_publish_scope scope_named(const char *name, __u32 nrows)
{
	struct qz_ioc_publish_scope s = {.size = sizeof(s),
					 .levels = 3,
					 .rows = nrows,
					 .elapsed_ns = 60,
					 .normalized_ns = 50,
					 .cpu_ns = 70,
					 .spin_ns = 1,
					 .serial_ns = 30,
					 .mean_parallelism_milli = 1400,
					 .level_ns = (__u64)(uintptr_t)levels,
					 .top = (__u64)(uintptr_t)rows};

	for (int i = 0; i < 600; i++)
		levels[i] = 10 * i;
	for (int i = 0; i <= QZ_TOP_MAX; i++) {
		snprintf(rows[i].name, sizeof(rows[i].name), "proc %d", i);
		snprintf(rows[i].kind, sizeof(rows[i].kind), "procedure");
		rows[i].normalized_ns = 100 + i;
	}
	memcpy(s.name, name, strnlen(name, sizeof(s.name)));
	return s;
}

START_TEST(scopes_come_change_and_go)
{
	struct qz_ioc_retire_scope retire = {.size = sizeof(retire), .name = "pid-1"};
	struct qz_ioc_publish_scope s = scope_named("pid-1", 2);
	int fd = device();

	listen_on(fd);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), 0);
	ck_assert_str_eq(contents("scopes/pid-1/elapsed_ns"), "60");
	ck_assert_str_eq(contents("scopes/pid-1/normalized_ns"), "50");
	ck_assert_str_eq(contents("scopes/pid-1/cpu_ns"), "70");
	ck_assert_str_eq(contents("scopes/pid-1/spin_ns"), "1");
	ck_assert_str_eq(contents("scopes/pid-1/serial_ns"), "30");
	ck_assert_str_eq(contents("scopes/pid-1/mean_parallelism_milli"), "1400");
	ck_assert_str_eq(contents("scopes/pid-1/level_ns"), "0 10 20");
	ck_assert_str_eq(contents("scopes/pid-1/top/1/name"), "proc 1");
	ck_assert_str_eq(contents("scopes/pid-1/top/1/kind"), "procedure");
	ck_assert_str_eq(contents("scopes/pid-1/top/1/normalized_ns"), "101");
	ck_assert_int_eq(mode_of("scopes/pid-1/elapsed_ns"), 0444);
	ck_assert_int_eq(mode_of("scopes/pid-1/top/1/normalized_ns"), 0444);
	ck_assert_int_eq(mode_of("scopes/pid-1/top/1/name"), 0440);
	s = scope_named("pid-1", 1);
	s.levels = 600;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), 0);
	ck_assert(!exists("scopes/pid-1/top/1"));
	ck_assert_int_lt(strlen(contents("scopes/pid-1/level_ns")), 4096);
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), 0);
	ck_assert(!exists("scopes/pid-1"));
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), -ENOENT);
	memset(retire.name, 'a', sizeof(retire.name));
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), -EINVAL);
}
END_TEST

START_TEST(a_removed_file_is_read_to_its_end)
{
	struct qz_ioc_retire_scope retire = {.size = sizeof(retire), .name = "gone"};
	struct qz_ioc_publish_scope s = scope_named("gone", 1);
	int fd = device(), open_file;
	char c;

	listen_on(fd);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), 0);
	open_file = open(ROOT "scopes/gone/top/0/name", O_RDONLY);
	ck_assert_int_ge(open_file, 0);
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), 0);
	ck_assert_int_eq(read(open_file, &c, 1), -1);
	ck_assert_int_eq(errno, ENODEV);
}
END_TEST

START_TEST(scopes_that_are_refused)
{
	static const char *const names[] = {"", ".", "..", ".x", "a/b", "a b", "a\n", "\xc3\xa4"};
	struct qz_ioc_publish_scope s;
	int fd = device();

	listen_on(fd);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		s = scope_named(names[i], 1);
		ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	}
	s = scope_named("x", 1);
	memset(s.name, 'a', sizeof(s.name));
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s = scope_named("x", QZ_TOP_MAX + 1);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s = scope_named("x", 1);
	s.levels = 0;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s.levels = QZ_LEVELS_MAX + 1;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s = scope_named("x", 1);
	s.level_ns = 8;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EFAULT);
	s = scope_named("x", 1);
	s.top = ~0ull;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EFAULT);
	s = scope_named("x", 1);
	memset(rows[0].name, 'n', sizeof(rows[0].name));
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s = scope_named("x", 1);
	strcpy(rows[0].name, "\033[31m");
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	s = scope_named("x", 1);
	strcpy(rows[0].kind, "Mutex!");
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &s), -EINVAL);
	ck_assert(!exists("scopes/x"));
}
END_TEST

Suite *suite_results(void)
{
	Suite *s = suite_create("results");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, totals);
	tcase_add_test(tc, scopes_come_change_and_go);
	tcase_add_test(tc, a_removed_file_is_read_to_its_end);
	tcase_add_test(tc, scopes_that_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
