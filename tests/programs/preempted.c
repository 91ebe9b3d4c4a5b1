/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preempted [SECONDS]: two processes of one thread on one processor, each of which sleeps and computes for some 100 us in
 * turn, so that one that wakes up preempts the other. Prints how often the first one left its processor, as the kernel counts it:
 * to wait, and preempted.
 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static void nap_and_compute(double seconds)
{
	const struct timespec nap = {.tv_nsec = 50000};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		nanosleep(&nap, NULL);
		compute_seconds(0.00015);
	}
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 5);
	struct rusage used;
	cpu_set_t one;
	pid_t other;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity", errno);
	other = fork();
	if (other < 0)
		die("fork", errno);
	nap_and_compute(seconds);
	if (!other)
		_exit(0);
	if (wait(NULL) < 0 || getrusage(RUSAGE_SELF, &used))
		die("preempted", errno);
	printf("waited %ld preempted %ld\n", used.ru_nvcsw, used.ru_nivcsw);
	return 0;
}
