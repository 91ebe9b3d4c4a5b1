/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waited PAUSE COMMAND [ARGUMENT]...: runs it over and over, with as many seconds in between, until SIGTERM, and
 * throws its output away. Prints for each run, as wait4(2) has it: PID, processor time with that of all it has
 * waited for, and the time that it took, in ns.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void run(char **command, int nowhere)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct rusage usage;
	pid_t pid = fork();

	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		dup2(nowhere, STDOUT_FILENO);
		execvp(command[0], command);
		die(command[0], errno);
	}
	while (wait4(pid, NULL, 0, &usage) < 0) {
		if (errno != EINTR)
			die("wait4", errno);
	}
	printf("%d %" PRIu64 " %" PRIu64 "\n", pid, ns_of(usage.ru_utime) + ns_of(usage.ru_stime),
	       clock_ns(CLOCK_MONOTONIC) - start);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	double pause = seconds_argument(argc, argv, 1, 0);

	if (argc < 3 || nowhere < 0)
		die("waited", argc < 3 ? EINVAL : errno);
	sigaction(SIGTERM, &action, NULL);
	while (!over) {
		run(argv + 2, nowhere);
		usleep((useconds_t)(pause * 1e6));
	}
	return 0;
}
