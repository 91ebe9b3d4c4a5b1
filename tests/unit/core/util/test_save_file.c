/* SPDX-License-Identifier: GPL-2.0-only */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/save_file.h"
#include "tests/unit/suites.h"

/* A directory with `real` in it, which is the working directory. */
static char place[64];

static void enter(void)
{
	strcpy(place, "/tmp/quartz-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	ck_assert_int_eq(chdir(place), 0);
	ck_assert_int_eq(mkdir("real", 0700), 0);
}

static void leave(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

static int put(void *context, int fd)
{
	size_t n = strlen(context);

	return write(fd, context, n) == (ssize_t)n ? 0 : -EIO;
}

static int put_and_fail(void *context, int fd)
{
	(void)put(context, fd);
	return -ENOSPC;
}

static void check_text(const char *name, const char *text)
{
	char is[64] = "";
	int fd = open(name, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, is, sizeof(is) - 1), 0);
	close(fd);
	ck_assert_str_eq(is, text);
}

/* What the path's directory is: 0 if it is `real`. */
static int leads(const char *path, uid_t uid)
{
	struct stat real, st;
	const char *name;
	int fd = qz_save_file__directory(path, uid, &name);

	if (fd < 0)
		return fd;
	ck_assert_str_eq(name, "file");
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	ck_assert_int_eq(stat("real", &real), 0);
	return st.st_ino == real.st_ino && st.st_dev == real.st_dev ? 0 : 1;
}

START_TEST(appears_whole_or_not_at_all)
{
	enter();
	ck_assert_int_eq(qz_save_file__at(AT_FDCWD, "file", 0600, false, put, "old"), 0);
	ck_assert_int_eq(qz_save_file__at(AT_FDCWD, "file", 0600, false, put_and_fail, "new"),
			 -ENOSPC);
	check_text("file", "old");
	ck_assert_int_eq(unlink("file"), 0);
	ck_assert_int_eq(rmdir("real"), 0);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(place), 0); /* nothing was left in it */
}
END_TEST

/* By a process of the same number that was killed, as each in a new container has; or by another user. */
START_TEST(needs_no_name_that_is_taken)
{
	char left[64];

	enter();
	snprintf(left, sizeof(left), "file.%d.part", getpid());
	ck_assert_int_eq(mkdir(left, 0700), 0);
	ck_assert_int_eq(qz_save_file__try(AT_FDCWD, "file"), 0);
	ck_assert_int_eq(qz_save_file__at(AT_FDCWD, "file", 0600, false, put, "text"), 0);
	check_text("file", "text");
	leave();
}
END_TEST

START_TEST(follows_links_of_this_user)
{
	char path[128];
	uid_t uid = geteuid();

	enter();
	ck_assert_int_eq(symlink("real", "link"), 0);
	ck_assert_int_eq(symlink("../link", "real/again"), 0);
	ck_assert_int_eq(symlink(place, "absolute"), 0);
	ck_assert_int_eq(leads("real/file", uid), 0);
	ck_assert_int_eq(leads(".//link/./file", uid), 0);
	ck_assert_int_eq(leads("link/again/../real/again/file", uid), 0);
	ck_assert_int_eq(leads("absolute/link//file", uid), 0);
	ck_assert_int_eq(leads("/proc/self/cwd/link/file", uid), 0);
	snprintf(path, sizeof(path), "%s/absolute/real/file", place);
	ck_assert_int_eq(leads(path, uid), 0);
	ck_assert_int_eq(leads("file", uid), 1);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	ck_assert_int_eq(leads("loop/file", uid), -ELOOP);
	ck_assert_int_eq(leads("none/file", uid), -ENOENT);
	leave();
}
END_TEST

START_TEST(follows_no_link_of_another_user)
{
	uid_t uid = geteuid(), other = uid + 1;

	enter();
	ck_assert_int_eq(symlink("real", "planted"), 0);
	ck_assert_int_eq(symlink("planted", "link"), 0);
	/* who is not root gives nothing away, but may ask for another user */
	if (!uid)
		ck_assert_int_eq(lchown("planted", other, other), 0);
	ck_assert_int_eq(leads("planted/file", uid ? other : uid), -EPERM);
	ck_assert_int_eq(leads("link/file", uid ? other : uid), -EPERM);
	ck_assert_int_eq(leads("planted/file", uid ? uid : other), 0);
	leave();
}
END_TEST

START_TEST(replaces_no_name_of_an_open_file)
{
	int fd;

	enter();
	ck_assert_int_eq(symlink("/proc/self/fd/1", "output"), 0);
	ck_assert_int_eq(symlink("file", "link"), 0);
	fd = open(".", O_PATH);
	ck_assert_int_eq(qz_save_file__check(fd, "output", geteuid()), -EEXIST);
	ck_assert_int_eq(qz_save_file__check(fd, "link", geteuid()), 0);
	close(fd);
	fd = open("/proc/self/fd", O_PATH);
	ck_assert(qz_save_file__is_open(fd, "1"));
	close(fd);
	leave();
}
END_TEST

Suite *suite_save_file(void)
{
	Suite *s = suite_create("save_file");
	TCase *t = tcase_create("all");

	tcase_add_test(t, appears_whole_or_not_at_all);
	tcase_add_test(t, needs_no_name_that_is_taken);
	tcase_add_test(t, follows_links_of_this_user);
	tcase_add_test(t, follows_no_link_of_another_user);
	tcase_add_test(t, replaces_no_name_of_an_open_file);
	suite_add_tcase(s, t);
	return s;
}
