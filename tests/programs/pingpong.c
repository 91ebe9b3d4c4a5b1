/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pingpong [futex|pipe [threads|processes [N [CPU [PLACES]]]]]: two threads or processes on one
 * processor hand each other a token N times there and back, so that each round trip is two context
 * switches. How often the kernel says that they left it of their own accord, to wait, is printed. They wait for it at so many places in turn, each a call deeper than the one before.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

/* Shared by both sides, also across fork. */
struct game {
	_Atomic uint32_t token; /* whose turn it is */
	bool by_pipe;
	int pipes[2][2]; /* pipes[s] wakes side s */
	long round_trips, places;
};

static void futex(struct game *g, int operation, uint32_t value)
{
	/* EAGAIN and EINTR are seen by the caller, who looks at the token again. */
	syscall(SYS_futex, &g->token, operation, value, NULL, NULL, 0);
}

PROCEDURE static void await_token(struct game *g, uint32_t side)
{
	char byte;

	if (g->by_pipe) {
		if (read(g->pipes[side][0], &byte, 1) != 1)
			die("read", errno);
		return;
	}
	while (atomic_load(&g->token) != side)
		futex(g, FUTEX_WAIT, 1 - side);
}

PROCEDURE static void await_below(struct game *g, uint32_t side, long calls)
{
	if (calls)
		await_below(g, side, calls - 1);
	else
		await_token(g, side);
	asm volatile(""); /* it returns here */
}

PROCEDURE static void pass_token(struct game *g, uint32_t to)
{
	if (g->by_pipe) {
		if (write(g->pipes[to][1], "", 1) != 1)
			die("write", errno);
		return;
	}
	atomic_store(&g->token, to);
	futex(g, FUTEX_WAKE, 1);
}

PROCEDURE static void *partner(void *arg)
{
	struct game *g = arg;

	for (long i = 0; i < g->round_trips; i++) {
		await_below(g, 1, i % g->places);
		pass_token(g, 0);
	}
	return NULL;
}

PROCEDURE static uint64_t play(struct game *g)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < g->round_trips; i++) {
		pass_token(g, 1);
		await_below(g, 0, i % g->places);
	}
	return clock_ns(CLOCK_MONOTONIC) - start;
}

static uint64_t play_with_thread(struct game *g)
{
	pthread_t thread;
	uint64_t ns;

	check("pthread_create", pthread_create(&thread, NULL, partner, g));
	ns = play(g);
	check("pthread_join", pthread_join(thread, NULL));
	return ns;
}

static uint64_t play_with_process(struct game *g)
{
	pid_t pid = fork();
	uint64_t ns;

	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		partner(g);
		_exit(0);
	}
	ns = play(g);
	waitpid(pid, NULL, 0);
	return ns;
}

/* Of all threads, and of the other process. */
static long waits(void)
{
	struct rusage own, other;

	if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &other))
		die("getrusage", errno);
	return own.ru_nvcsw + other.ru_nvcsw;
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity", errno);
}

static const char *word_argument(int argc, char **argv, int i, const char *first,
				 const char *second)
{
	if (i >= argc || !strcmp(argv[i], first))
		return first;
	if (strcmp(argv[i], second))
		die(argv[i], EINVAL);
	return second;
}

int main(int argc, char **argv)
{
	const char *channel = word_argument(argc, argv, 1, "futex", "pipe");
	const char *partners = word_argument(argc, argv, 2, "threads", "processes");
	struct game *g =
		mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t ns;

	if (g == MAP_FAILED || pipe(g->pipes[0]) || pipe(g->pipes[1]))
		die("pingpong", errno);
	g->by_pipe = !strcmp(channel, "pipe");
	g->round_trips = count_argument(argc, argv, 3, 100000);
	g->places = count_argument(argc, argv, 5, 1);
	pin(count_argument(argc, argv, 4, 0));
	ns = !strcmp(partners, "threads") ? play_with_thread(g) : play_with_process(g);
	printf("pingpong %s %s round_trips %ld ns_per_round_trip %.1f waits %ld\n", channel,
	       partners, g->round_trips, g->round_trips ? (double)ns / (double)g->round_trips : 0.0,
	       waits());
	return 0;
}
