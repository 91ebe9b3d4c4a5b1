/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_loop compute|wait N MS EVERY: waits for events N times, 5 ms each, and after each EVERYth one computes, or sleeps, for
 * MS ms in slow_request. EVERY 0: never.
 * event_loop queue N US LOAD: answers N requests, which a child sends at any time, so that answering them takes LOAD percent
 * of the time. Each computes for US us.
 *
 *	event_loop turns N blocks N block_ns N longest_ns N
 *
 * has its turns, and those of 10 ms or more by its own clock. One ends where the kernel says that it left its processor to wait
 * for events: who is preempted on the way there may find that the time is over.
 */
#include <math.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define EVENT_MS 5
#define BLOCK_NS 10000000

static uint64_t turns, blocks, block_ns, longest_ns;

static void count(uint64_t ns)
{
	turns++;
	if (ns < BLOCK_NS)
		return;
	blocks++;
	block_ns += ns;
	longest_ns = ns > longest_ns ? ns : longest_ns;
}

PROCEDURE static uint64_t slow_request(long ms, bool waits)
{
	uint64_t began = clock_ns(waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);

	if (waits)
		usleep((useconds_t)ms * 1000);
	else
		compute_seconds((double)ms / 1e3);
	return clock_ns(waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID) - began;
}

static long waits_until_now(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage", errno);
	return usage.ru_nvcsw;
}

/* Whether it had to wait. */
static bool wait_for_events(int fd, int ms)
{
	long before = waits_until_now();
	struct epoll_event event;

	while (epoll_wait(fd, &event, 1, ms) < 0)
		if (errno != EINTR)
			die("epoll_wait", errno);
	return waits_until_now() > before;
}

static void run(int fd, bool waits, long n, long ms, long every)
{
	uint64_t ns = 0;

	while (!wait_for_events(fd, EVENT_MS))
		;
	for (long i = 1; i <= n || ns; i++) {
		if (i <= n && every && i % every == 0)
			ns += slow_request(ms, waits);
		if (!wait_for_events(fd, EVENT_MS))
			continue;
		count(ns);
		ns = 0;
	}
}

PROCEDURE static void quick_request(long us)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)us * 1000;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		compute_turns(1000);
}

/* At any time: the gaps are as those of many clients that know nothing of each other. */
static void send_requests(int fd, long n, double gap_us)
{
	unsigned int seed = 1;

	for (long i = 0; i < n; i++) {
		double gap = -gap_us * log(((double)rand_r(&seed) + 1) / ((double)RAND_MAX + 2));

		usleep((useconds_t)gap);
		if (write(fd, "r", 1) != 1)
			die("write", errno);
	}
}

static void serve(int fd, long n, long us, long load)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2];
	char request;

	if (pipe(ends) || epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event))
		die("pipe", errno);
	if (!fork()) {
		send_requests(ends[1], n, (double)us * 100 / (double)load);
		_exit(0);
	}
	for (long i = 0; i < n; i++) {
		wait_for_events(fd, -1);
		if (read(ends[0], &request, 1) != 1)
			die("read", errno);
		quick_request(us);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	int fd = epoll_create1(0);

	if (argc != 5 || fd < 0)
		die("event_loop compute|wait|queue N TIME EVERY|LOAD", EINVAL);
	if (!strcmp(argv[1], "queue"))
		serve(fd, atol(argv[2]), atol(argv[3]), atol(argv[4]));
	else
		run(fd, !strcmp(argv[1], "wait"), atol(argv[2]), atol(argv[3]), atol(argv[4]));
	printf("event_loop turns %" PRIu64 " blocks %" PRIu64 " block_ns %" PRIu64
	       " longest_ns %" PRIu64 "\n",
	       turns, blocks, block_ns, longest_ns);
	return 0;
}
