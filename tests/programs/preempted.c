/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preempted [SECONDS [THREADS]]: two processes on one processor, each of which sleeps and computes for some 100 us in turn, so
 * that one that wakes up preempts the other. The first one has so many threads (1), of which the others sleep throughout.
 * Prints what the kernel counts of its first one: how often it left its processor to wait, and preempted, and how long it was
 * ready, ns.
 */
#include <pthread.h>
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

static void *sleep_throughout(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static uint64_t ready_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	uint64_t ready;

	if (!file || fscanf(file, "%*u %" SCNu64, &ready) != 1)
		die("/proc/thread-self/schedstat", errno);
	fclose(file);
	return ready;
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 5);
	long threads = count_argument(argc, argv, 2, 1);
	struct rusage used;
	pthread_t thread;
	cpu_set_t one;
	pid_t other;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity", errno);
	other = fork();
	if (other < 0)
		die("fork", errno);
	for (long i = 1; other && i < threads; i++)
		if (pthread_create(&thread, NULL, sleep_throughout, NULL))
			die("pthread_create", EAGAIN);
	nap_and_compute(seconds);
	if (!other)
		_exit(0);
	if (wait(NULL) < 0 || getrusage(RUSAGE_THREAD, &used))
		die("preempted", errno);
	printf("waited %ld preempted %ld ready %" PRIu64 "\n", used.ru_nvcsw, used.ru_nivcsw,
	       ready_ns());
	return 0;
}
