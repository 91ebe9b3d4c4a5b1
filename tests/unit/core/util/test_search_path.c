/* SPDX-License-Identifier: GPL-2.0-only */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/search_path.h"
#include "tests/unit/suites.h"

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

/* What cannot be executed is passed over, as by execvp(). */
START_TEST(finds_what_would_be_executed)
{
	char directory[] = "/tmp/quartz-path.XXXXXX", path[PATH_MAX];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(
		mkdir("a", 0700) | mkdir("a/tool", 0700) | mkdir("b", 0700) | mkdir("c", 0700), 0);
	make("b/tool", 0600);
	make("c/tool", 0700);
	make("here", 0700);
	setenv("PATH", "a:b:c", 1);
	ck_assert(qz_search_path__find("tool", path));
	ck_assert_str_eq(path, "c/tool");
	ck_assert(!qz_search_path__find("here", path));
	setenv("PATH", "a:", 1);
	ck_assert(qz_search_path__find("here", path));
	ck_assert_str_eq(path, "here");
	ck_assert(qz_search_path__find("x/y", path));
	ck_assert_str_eq(path, "x/y");
	unsetenv("PATH");
	ck_assert(qz_search_path__find("sh", path));
	ck_assert_str_eq(path, "/bin/sh");
	unlink("b/tool");
	unlink("c/tool");
	unlink("here");
	rmdir("a/tool");
	rmdir("a");
	rmdir("b");
	rmdir("c");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

Suite *suite_search_path(void)
{
	Suite *s = suite_create("search_path");
	TCase *tc = tcase_create("search_path");

	tcase_add_test(tc, finds_what_would_be_executed);
	suite_add_tcase(s, tc);
	return s;
}
