/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cli/experiment/programs.h"
#include "tests/unit/suites.h"

static struct programs_mark *share(void)
{
	void *shared = mmap(NULL, sizeof(struct programs_mark), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

/* Whether a line says that it ran. Its number is in the mark, by itself. */
static bool runs(struct programs_mark *mark)
{
	char text[16] = "";
	FILE *out;
	pid_t pid = programs__read("echo ran", NULL, mark, &out);
	bool ran;

	ck_assert_int_gt(pid, 0);
	ran = fgets(text, sizeof(text), out) && !strcmp(text, "ran\n");
	ck_assert_int_eq(WEXITSTATUS(programs__end(pid, out)), ran ? 0 : 127);
	ck_assert_int_eq(mark->line, pid);
	return ran;
}

/* Of a process that was killed as it began a line: either the line is waited for, or it does not run. */
START_TEST(no_line_begins_after_the_end)
{
	struct programs_mark *mark = share();

	ck_assert(runs(mark));
	mark->ended = true;
	ck_assert(!runs(mark));
	munmap(mark, sizeof(*mark));
}
END_TEST

Suite *suite_programs(void)
{
	Suite *s = suite_create("programs");
	TCase *c = tcase_create("all");

	tcase_add_test(c, no_line_begins_after_the_end);
	suite_add_tcase(s, c);
	return s;
}
