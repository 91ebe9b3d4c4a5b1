/* SPDX-License-Identifier: GPL-2.0-only */
/* forks [N [K]]: forks N children that compute a little and exit, with at most K of them alive. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

PROCEDURE static void child_work(void)
{
	compute_turns(5000);
}

PROCEDURE static void create_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		child_work();
		_exit(0);
	}
}

static int reap(void)
{
	int status;

	if (wait(&status) < 0)
		die("wait", errno);
	return status;
}

int main(int argc, char **argv)
{
	long total = count_argument(argc, argv, 1, 1000);
	long limit = count_argument(argc, argv, 2, 4);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu_us;
	long created = 0, ended = 0, failed = 0;
	struct rusage usage;

	if (!limit)
		die("forks", EINVAL);
	for (; created < total; created++) {
		if (created - ended == limit) {
			failed += reap() != 0;
			ended++;
		}
		create_child();
	}
	for (; ended < created; ended++)
		failed += reap() != 0;

	getrusage(RUSAGE_CHILDREN, &usage);
	cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	printf("children created %ld ended %ld failed %ld\n", created, ended, failed);
	truth_print("create_child", cpu_us * 1000, clock_ns(CLOCK_MONOTONIC) - start);
	return failed != 0;
}
