/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crowd [N [M [B]]]: N processes of M threads each that sleep, but for one thread of each of the first B
 * processes, which computes. Says "crowd N" when all are there; they end with it, at SIGTERM.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define STACK_BYTES 16384

static void *sleep_on(void *arg)
{
	while (pause())
		;
	return arg;
}

PROCEDURE static void be_busy(void)
{
	for (;;)
		compute_turns(TURNS_PER_LOOK);
}

/* Counts itself among those that are there when its threads are. */
static void be_one(long threads, long busy, long *there)
{
	pthread_attr_t attributes;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attributes);
	check("pthread_attr_setstacksize", pthread_attr_setstacksize(&attributes, STACK_BYTES));
	for (long i = 1; i < threads; i++)
		check("pthread_create", pthread_create(&thread, &attributes, sleep_on, NULL));
	__atomic_fetch_add(there, 1, __ATOMIC_RELEASE);
	if (busy)
		be_busy();
	sleep_on(NULL);
}

int main(int argc, char **argv)
{
	long processes = count_argument(argc, argv, 1, 100);
	long threads = count_argument(argc, argv, 2, 1);
	long busy = count_argument(argc, argv, 3, 0);
	long *there = mmap(NULL, sizeof(*there), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	pid_t pid;

	if (there == MAP_FAILED)
		die("mmap", errno);
	for (long i = 0; i < processes; i++) {
		pid = fork();
		if (pid < 0)
			die("fork", errno);
		if (!pid)
			be_one(threads, i < busy, there);
	}
	while (__atomic_load_n(there, __ATOMIC_ACQUIRE) < processes)
		usleep(10000);
	printf("crowd %ld\n", processes);
	fflush(stdout);
	sleep_on(NULL);
}
