/* SPDX-License-Identifier: GPL-2.0-only */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/experiment/own_directory.h"
#include "tests/unit/suites.h"

#define KIND "quartz-unit-test"

static void make_file(const struct own_directory *d)
{
	char path[sizeof(d->path) + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/file", d->path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* The path of one whose process has ended without removing it. */
static void leave_one(char path[sizeof(((struct own_directory *)0)->path)])
{
	struct own_directory d;
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		if (own_directory__make(&d, KIND))
			_exit(1);
		make_file(&d);
		_exit(write(ends[1], d.path, sizeof(d.path)) != sizeof(d.path));
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(read(ends[0], path, sizeof(d.path)), sizeof(d.path));
	close(ends[0]);
	close(ends[1]);
}

START_TEST(what_a_killed_run_has_left_goes)
{
	char left[sizeof(((struct own_directory *)0)->path)];
	struct own_directory d;

	leave_one(left);
	ck_assert_int_eq(access(left, F_OK), 0);
	ck_assert_int_eq(own_directory__make(&d, KIND), 0);
	ck_assert_int_ne(access(left, F_OK), 0);
	make_file(&d);
	own_directory__remove(&d);
	ck_assert_str_eq(d.path, "");
	own_directory__remove(&d);
}
END_TEST

START_TEST(what_a_living_run_has_stays)
{
	struct own_directory first, second;

	ck_assert_int_eq(own_directory__make(&first, KIND), 0);
	make_file(&first);
	ck_assert_int_eq(own_directory__make(&second, KIND), 0);
	ck_assert_int_eq(access(first.path, F_OK), 0);
	ck_assert_str_ne(first.path, second.path);
	own_directory__remove(&second);
	own_directory__remove(&first);
}
END_TEST

/* A directory that others could write to may hold anything. */
START_TEST(what_others_can_write_to_stays)
{
	struct own_directory d;
	char left[sizeof(d.path)];

	leave_one(left);
	ck_assert_int_eq(chmod(left, 0777), 0);
	ck_assert_int_eq(own_directory__make(&d, KIND), 0);
	ck_assert_int_eq(access(left, F_OK), 0);
	ck_assert_int_eq(chmod(left, 0700), 0);
	own_directory__remove(&d);
	ck_assert_int_eq(own_directory__make(&d, KIND), 0);
	own_directory__remove(&d);
	ck_assert_int_ne(access(left, F_OK), 0);
}
END_TEST

Suite *suite_own_directory(void)
{
	Suite *s = suite_create("own_directory");
	TCase *c = tcase_create("all");

	tcase_add_test(c, what_a_killed_run_has_left_goes);
	tcase_add_test(c, what_a_living_run_has_stays);
	tcase_add_test(c, what_others_can_write_to_stays);
	suite_add_tcase(s, c);
	return s;
}
