/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs all unit tests. CK_RUN_SUITE=NAME selects one suite, CK_FORK=no keeps a test in this process
 * for the debugger.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

/* libquartz, linked in, looks for a quartzd of this machine before main: there is none for us. */
static void hide_quartzd(char **argv)
{
	if (getenv("QUARTZ_RUNTIME_DIR"))
		return;
	setenv("QUARTZ_RUNTIME_DIR", "/nonexistent", 1);
	execv("/proc/self/exe", argv);
	perror("/proc/self/exe");
	exit(EXIT_FAILURE);
}

/* Check counts tests only when they have run. */
static unsigned int planned;

void __real__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
			    int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
			    int end);
void __wrap__tcase_add_test(TCase *tcase, const TTest *test, int signal, int exit_value, int start,
			    int end)
{
	planned += (unsigned int)(end - start);
	__real__tcase_add_test(tcase, test, signal, exit_value, start, end);
}

/* The tests of a suite that is not chosen are not planned. */
static void add(SRunner *runner, const char *name, Suite *(*suite)(void))
{
	const char *chosen = getenv("CK_RUN_SUITE");
	unsigned int before = planned;

	srunner_add_suite(runner, suite());
	if (chosen && strcmp(chosen, name) != 0)
		planned = before;
}

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	(void)argc;
	hide_quartzd(argv);
	/* Not for slow tests but for those that hang: Check's own 4 s pass by on a busy machine. */
	setenv("CK_DEFAULT_TIMEOUT", "240", 0);
	failing__init();
#define X(name) add(runner, #name, suite_##name);
	SUITES
#undef X
	if (getenv("CK_TAP_LOG_FILE_NAME")) {
		printf("plan %u\n", planned);
		fflush(stdout);
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
