/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short programs that know who they are. All that a process computes, it does in the one of 64
 * procedures that has the number of its pid, modulo 64; so a profile tells whether a sample stands
 * under the process that it was taken of. Each program that includes this has a KIND of its own, which
 * its procedures begin with, and starts processes in its own way:
 *
 *	who_KIND storm SECONDS JOBS	JOBS of them at a time, for so long
 *	who_KIND work			is one of them
 *
 * Pids are those of the namespace that /proc was mounted in, as the profile has them.
 */
#ifndef QUARTZ_TESTS_PROGRAMS_WHO_H
#define QUARTZ_TESTS_PROGRAMS_WHO_H

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define WHO_JOIN(a, b)	  a##b
#define WHO_NAME(kind, n) WHO_JOIN(kind, _##n)
/* Turns until the clock is read: some microseconds. */
#define WHO_TURNS 5000

/* The number makes each one's code its own: else a compiler may take one for all. */
#define WHO_PROCEDURE(n)                                                                           \
	PROCEDURE static void WHO_NAME(KIND, n)(uint64_t until)                                    \
	{                                                                                          \
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)                                  \
			compute_turns(WHO_TURNS + 1##n);                                           \
	}

#define WHO_EIGHT(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7)
#define WHO_ALL(f)                                                                                 \
	WHO_EIGHT(f, 0)                                                                            \
	WHO_EIGHT(f, 1)                                                                            \
	WHO_EIGHT(f, 2)                                                                            \
	WHO_EIGHT(f, 3) WHO_EIGHT(f, 4) WHO_EIGHT(f, 5) WHO_EIGHT(f, 6) WHO_EIGHT(f, 7)

WHO_ALL(WHO_PROCEDURE)

#define WHO_POINTER(n) WHO_NAME(KIND, n),

/* Numbered in octal. */
static void (*const who_procedures[])(uint64_t) = {WHO_ALL(WHO_POINTER)};

static inline int who_pid(void)
{
	char link[32] = "";

	return readlink("/proc/self", link, sizeof(link) - 1) > 0 ? atoi(link) : 0;
}

/* Computes for 1 to 33 ms, by the pid. */
static inline void who_work(void)
{
	int pid = who_pid();
	uint64_t ns = 1000000 + (uint64_t)((unsigned)pid * 2654435761u >> 7);

	if (pid > 0)
		who_procedures[pid % 64](clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns);
}

/* Executes this program once more, by its own name. */
static inline _Noreturn void who_execute(char *again)
{
	char path[PATH_MAX] = "", *argv[] = {path, "work", again, NULL};

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		execv(path, argv);
	_exit(127);
}

static inline int who_reap(int options)
{
	int status, n = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, options | __WALL)) > 0) {
		n++;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "process %d ended with status %#x\n", (int)pid, status);
			exit(1);
		}
		options |= WNOHANG;
	}
	return n;
}

/* Prints how many processes there were. */
static inline void who_storm(double seconds, long jobs, pid_t (*create)(long number))
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	long created = 0, ended = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (created - ended >= jobs)
			ended += who_reap(0);
		if (create(created) < 0)
			die("create", errno);
		created++;
	}
	while (ended < created)
		ended += who_reap(0);
	printf("processes %ld\n", created);
}

/* Gives the exit status. */
static inline int who_main(int argc, char **argv, pid_t (*create)(long number))
{
	if (argc > 1 && !strcmp(argv[1], "work")) {
		who_work();
		return 0;
	}
	if (argc < 4 || strcmp(argv[1], "storm"))
		die(argv[0], EINVAL);
	who_storm(number_argument(argc, argv, 2, 1, 1e6), count_argument(argc, argv, 3, 1), create);
	return 0;
}

#endif
