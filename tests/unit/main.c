/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs all unit tests. CK_RUN_SUITE=NAME selects one suite, CK_FORK=no keeps a test in this process
 * for the debugger. `unit I N` runs each Nth suite from the Ith on, so that N programs share them.
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

struct share {
	SRunner *runner;
	unsigned long next, of;
};

/* The tests of a suite that is not chosen are not planned. */
static void add(struct share *share, const char *name, Suite *(*suite)(void))
{
	const char *chosen = getenv("CK_RUN_SUITE");
	unsigned int before = planned;

	if (share->next++ % share->of)
		return;
	srunner_add_suite(share->runner, suite());
	if (chosen && strcmp(chosen, name) != 0)
		planned = before;
}

int main(int argc, char **argv)
{
	struct share share = {srunner_create(NULL), 0, 1};
	int failed;

	hide_quartzd(argv);
	if (argc == 3) {
		share.of = strtoul(argv[2], NULL, 10) ?: 1;
		share.next = share.of - strtoul(argv[1], NULL, 10) % share.of;
	}
	setlinebuf(stdout); /* programs that share the suites write to one pipe */
	/* Not for slow tests but for those that hang: Check's own 4 s pass by on a busy machine. */
	setenv("CK_DEFAULT_TIMEOUT", "240", 0);
	failing__init();
#define X(name) add(&share, #name, suite_##name);
	SUITES
#undef X
	if (getenv("CK_TAP_LOG_FILE_NAME")) {
		printf("plan %u\n", planned);
		fflush(stdout);
	}
	srunner_run_all(share.runner, CK_ENV);
	failed = srunner_ntests_failed(share.runner);
	srunner_free(share.runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
