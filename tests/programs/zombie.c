/* SPDX-License-Identifier: GPL-2.0-only */
/* zombie [SECONDS]: makes a child that has ended, prints its pid, and reaps it after SECONDS. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 10);
	pid_t pid = fork();
	siginfo_t info;

	if (pid < 0)
		die("fork", errno);
	if (!pid)
		_exit(0);
	/* It is a zombie for certain before its pid is read. */
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		die("waitid", errno);
	printf("zombie %d\n", pid);
	fflush(stdout);
	usleep((useconds_t)(seconds * 1e6));
	waitpid(pid, NULL, 0);
	return 0;
}
