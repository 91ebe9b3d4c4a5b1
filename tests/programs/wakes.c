/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakes N: one thread sleeps at `bell`, and another one, on another processor where there are two,
 * rings it N times: each time once the sleeper has left its processor. So each ends one sleep. It begins after a
 * sleep of its own, so that who looks on from outside has seen the code by then.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define BEGIN_US 100000

uint32_t bell;

static long times;
static atomic_int sleeper;

static long futex(int operation)
{
	return syscall(SYS_futex, &bell, operation | FUTEX_PRIVATE_FLAG, operation == FUTEX_WAKE,
		       NULL, NULL, 0);
}

/* To the first or the last processor that the program may use. */
static void pin(bool last)
{
	cpu_set_t all, one;
	int chosen = -1;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity", errno);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && (chosen < 0 || last))
			chosen = i;
	CPU_SET(chosen, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity", errno);
}

PROCEDURE static void *sleep_often(void *unused)
{
	pin(false);
	atomic_store(&sleeper, (int)syscall(SYS_gettid));
	for (long i = 0; i < times;)
		if (!futex(FUTEX_WAIT))
			i++;
	return unused;
}

/* "running" stands there until the switch is over: a thread sleeps, and is counted as gone, before it has left. */
static bool has_left(void)
{
	char path[64], line[128] = "running";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", atomic_load(&sleeper));
	f = fopen(path, "r");
	if (!f)
		die(path, errno);
	if (!fgets(line, sizeof(line), f))
		line[0] = 'r';
	fclose(f);
	return line[0] != 'r';
}

/* How often the sleeper has left its processor of its own accord; -1 when it does not sleep. */
static long departures(void)
{
	char path[64], line[128], state = '?';
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", atomic_load(&sleeper));
	f = fopen(path, "r");
	if (!f)
		die(path, errno);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	}
	fclose(f);
	return state == 'S' && has_left() ? n : -1;
}

PROCEDURE static void ring(void)
{
	long before = -1, now;

	for (long i = 0; i < times;) {
		while ((now = departures()) <= before)
			sched_yield();
		if (futex(FUTEX_WAKE) == 1) {
			before = now;
			i++;
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	times = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	if (times <= 0) {
		fprintf(stderr, "usage: wakes N\n");
		return 2;
	}
	check("pthread_create", pthread_create(&thread, NULL, sleep_often, NULL));
	while (!atomic_load(&sleeper))
		sched_yield();
	pin(true);
	usleep(BEGIN_US);
	ring();
	check("pthread_join", pthread_join(thread, NULL));
	return 0;
}
