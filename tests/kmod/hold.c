/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hold map|once|number|publish|snapshots N|cost N [OTHERS]: uses the device in one way, until it is killed
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "quartz/device.h"
#include "quartz/page.h"

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void use_set(int fd)
{
	struct qz_ioc_open_set open_set = {
		.size = sizeof(open_set), .page_version = QZ_PAGE_VERSION, .bytes = 1 << 20};
	char *set;

	check(ioctl(fd, QZ_IOC_OPEN_SET, &open_set), "open set");
	set = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(set == MAP_FAILED, "mmap");
	memset(set + 4096, 1, (1 << 20) - 4096);
}

/* A page set's own number. */
static void tell_number(int fd)
{
	struct qz_set_info set = {0};
	struct qz_ioc_list_sets list = {.size = sizeof(list), .room = 1, .sets = (uintptr_t)&set};
	unsigned long long last = 0;

	use_set(fd);
	while (ioctl(fd, QZ_IOC_LIST_SETS, &list) == 1) {
		list.after = set.id;
		if (set.tgid == getpid())
			last = set.id;
	}
	printf("%llu\n", last);
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

		if (i % 2)
			s.flags |= QZ_SNAPSHOT_NMI;
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

static void take_one(int fd, uint32_t flags, struct told *told)
{
	static struct qz_capture captures[64];
	int all = ntargets > QZ_TARGETS_MAX;
	struct qz_ioc_snapshot s = {.size = sizeof(s),
				    .flags = flags | (all ? QZ_SNAPSHOT_ALL : 0),
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
static uint64_t elapsed(int fd, long n, uint32_t flags, struct told *told)
{
	intptr_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t start = now();
	pthread_t threads[64];

	for (intptr_t i = 1; i < cpus && i < 64; i++)
		check(pthread_create(&threads[i], NULL, turn, (void *)i), "thread");
	for (long i = 0; i < n; i++) {
		if (fd >= 0)
			take_one(fd, flags, told);
		usleep(1000);
	}
	for (intptr_t i = 1; i < cpus && i < 64; i++)
		pthread_join(threads[i], NULL);
	return now() - start;
}

static void tell_cost(int fd, long n, uint32_t others)
{
	uint64_t without;
	cpu_set_t first;

	start_sleepers(others);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	check(sched_setaffinity(0, sizeof(first), &first), "affinity");
	without = elapsed(-1, n, 0, NULL);
	for (uint32_t flags = 0; flags <= QZ_SNAPSHOT_NMI; flags += QZ_SNAPSHOT_NMI) {
		struct told told = {0};
		int64_t more = (int64_t)(elapsed(fd, n, flags, &told) - without);

		printf("%s: %ld snapshots, missed %llu, call %llu ns, skew %llu ns, at most %llu "
		       "ns; "
		       "%lld ns more for each\n",
		       flags ? "NMI" : "IPI", n, (unsigned long long)told.missed,
		       (unsigned long long)told.call_ns / n, (unsigned long long)told.skew_ns / n,
		       (unsigned long long)told.skew_max_ns, (long long)more / n);
	}
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
	if (!strcmp(argv[1], "number"))
		tell_number(fd);
	if (!strcmp(argv[1], "map") || !strcmp(argv[1], "once"))
		use_set(fd);
	close(fd);
	if (!strcmp(argv[1], "map"))
		pause();
	return EXIT_SUCCESS;
}
