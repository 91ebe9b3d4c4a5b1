/* SPDX-License-Identifier: GPL-2.0-only */
/* vforks [N]: runs /bin/true N times by vfork and exec, and N times by posix_spawn. */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

extern char **environ;
static char *const true_argv[] = {"/bin/true", NULL};

PROCEDURE static pid_t create_by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(true_argv[0], true_argv);
		_exit(127);
	}
	if (pid < 0)
		die("vfork", errno);
	return pid;
}

PROCEDURE static pid_t create_by_spawn(void)
{
	pid_t pid;

	check("posix_spawn", posix_spawn(&pid, true_argv[0], NULL, NULL, true_argv, environ));
	return pid;
}

static int failed(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		die("waitpid", errno);
	return status != 0;
}

int main(int argc, char **argv)
{
	long rounds = count_argument(argc, argv, 1, 100), failures = 0;
	struct truth start = truth_now();

	for (long i = 0; i < rounds; i++) {
		failures += failed(create_by_vfork());
		failures += failed(create_by_spawn());
	}
	printf("children created %ld failed %ld\n", 2 * rounds, failures);
	truth_since("main", start);
	return failures != 0;
}
