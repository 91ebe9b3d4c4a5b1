/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hold publish|snapshots N|cost N [OTHERS]: uses the device in one way, until it is killed
 * or done. cost: what N snapshots cost, where one clock counts the instructions of all processors, and
 * how far these are apart; of this process and of so many others that sleep.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "quartz/device.h"

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void publish(int fd)
{
	static uint64_t levels[9];
	static struct qz_top_row rows[4];
	struct qz_ioc_listen l = {.size = sizeof(l)};
	struct qz_ioc_publish_scope s = {.size = sizeof(s),
					 .levels = 9,
					 .rows = 4,
					 .name = "job",
					 .level_ns = (uintptr_t)levels,
					 .top = (uintptr_t)rows};

	check(ioctl(fd, QZ_IOC_LISTEN, &l), "listen");
	for (;;)
		check(ioctl(fd, QZ_IOC_PUBLISH_SCOPE, &s), "publish");
}

static void take_snapshots(int fd, long n)
{
	static struct qz_capture captures[64];

	for (long i = 0; i < n; i++) {
		struct qz_ioc_snapshot s = {.size = sizeof(s),
					    .flags = QZ_SNAPSHOT_ALL,
					    .room = 64,
					    .captures = (uintptr_t)captures,
					    .patience_ns = 100000000};

		check(ioctl(fd, QZ_IOC_SNAPSHOT, &s), "snapshot");
	}
}

/* ---- cost ---- */

#define TURNS 25000000ul

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *turn(void *cpu)
{
	static __thread volatile unsigned long turns;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((intptr_t)cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set), "affinity");
	for (turns = 0; turns < TURNS; turns++)
		;
	return NULL;
}

/* This process and those that sleep; more than one call takes: then every processor is asked, as by
 * quartzd. */
static int32_t *targets;
static uint32_t ntargets;

static void start_sleepers(uint32_t n)
{
	pid_t parent = getpid();

	targets = calloc(n + 1, sizeof(*targets));
	check(!targets, "targets");
	targets[ntargets++] = parent;
	while (ntargets <= n) {
		pid_t child = fork();

		check(child < 0, "fork");
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent)
				pause();
			_exit(EXIT_SUCCESS);
		}
		targets[ntargets++] = child;
	}
}

/* What n snapshots said, together. */
struct told {
	uint64_t call_ns, skew_ns, skew_max_ns, missed;
};

static void take_one(int fd, struct told *told)
{
	static struct qz_capture captures[64];
	int all = ntargets > QZ_TARGETS_MAX;
	struct qz_ioc_snapshot s = {.size = sizeof(s),
				    .flags = all ? QZ_SNAPSHOT_ALL : 0,
				    .ntargets = all ? 0 : ntargets,
				    .targets = (uintptr_t)targets,
				    .room = 64,
				    .captures = (uintptr_t)captures,
				    .patience_ns = QZ_PATIENCE_MAX};
	uint64_t start = now();

	check(ioctl(fd, QZ_IOC_SNAPSHOT, &s), "snapshot");
	told->call_ns += now() - start;
	told->skew_ns += s.skew_ns;
	if (s.skew_ns > told->skew_max_ns)
		told->skew_max_ns = s.skew_ns;
	told->missed += s.missed;
}

/* The time that a thread on each processor but the first one takes, while that one takes n snapshots,
 * or, with fd -1, does all but that. */
static uint64_t elapsed(int fd, long n, struct told *told)
{
	intptr_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t start = now();
	pthread_t threads[64];

	for (intptr_t i = 1; i < cpus && i < 64; i++)
		check(pthread_create(&threads[i], NULL, turn, (void *)i), "thread");
	for (long i = 0; i < n; i++) {
		if (fd >= 0)
			take_one(fd, told);
		usleep(1000);
	}
	for (intptr_t i = 1; i < cpus && i < 64; i++)
		pthread_join(threads[i], NULL);
	return now() - start;
}

static void tell_cost(int fd, long n, uint32_t others)
{
	struct told told = {0};
	uint64_t without;
	int64_t more;
	cpu_set_t first;

	start_sleepers(others);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	check(sched_setaffinity(0, sizeof(first), &first), "affinity");
	without = elapsed(-1, n, NULL);
	more = (int64_t)(elapsed(fd, n, &told) - without);
	printf("%ld snapshots, missed %llu, call %llu ns, skew %llu ns, at most %llu ns; %lld ns "
	       "more for "
	       "each\n",
	       n, (unsigned long long)told.missed, (unsigned long long)told.call_ns / n,
	       (unsigned long long)told.skew_ns / n, (unsigned long long)told.skew_max_ns,
	       (long long)more / n);
}

int main(int argc, char **argv)
{
	int fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(fd < 0 || argc < 2, QZ_DEVICE_PATH);
	if (!strcmp(argv[1], "publish"))
		publish(fd);
	if (!strcmp(argv[1], "snapshots"))
		take_snapshots(fd, argc > 2 ? atol(argv[2]) : 1);
	if (!strcmp(argv[1], "cost"))
		tell_cost(fd, argc > 2 ? atol(argv[2]) : 100,
			  argc > 3 ? (uint32_t)atol(argv[3]) : 0);
	close(fd);
	return EXIT_SUCCESS;
}
