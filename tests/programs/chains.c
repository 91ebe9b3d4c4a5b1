/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chains SHAPE [PERCENT [SECONDS [MICROSECONDS]]]
 *
 * Programs whose run without the procedure `candidate`, or with only so many percent of it, is known: that is the same
 * program with PERCENT of the candidate's work, 100 where it is not given. It runs some SECONDS; between two waits
 * a thread works so many MICROSECONDS.
 *
 * lock: two threads go through a critical section in turn, in which `candidate` takes half of the time, and work outside
 * of it for a quarter of the time inside.
 * other: the same, but the candidate is what one of the two does outside: too little to matter.
 * chain: three threads, one after the other, pass a token on; the candidate is the second one's work.
 * pipe: three threads with pipes between them; the second one, the candidate, is the slowest.
 * barrier: three threads meet at a barrier; one works longer, of that a half in the candidate.
 * even: two threads meet at a barrier; half of what each does is the candidate.
 * fork: a thread is started and joined in each turn, while its creator works; it does the longer part, in the candidate.
 * crowd: four threads that do not wait for each other, half of whose work is the candidate: on two processors.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static double percent = 100, seconds = 1, unit;
static long turns;

/* Looks at the clock more often than compute_seconds(): parts are short. */
static inline __attribute__((always_inline)) void work(double share)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(unit * share * 1e9);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		compute_turns(3000);
}

PROCEDURE static void candidate(double share)
{
	work(share * percent / 100);
}

PROCEDURE static void rest(double share)
{
	work(share);
}

static void start(pthread_t *thread, void *(*procedure)(void *), long number)
{
	check("pthread_create", pthread_create(thread, NULL, procedure, (void *)number));
}

static void run(void *(*procedure)(void *), long n)
{
	pthread_t threads[8];

	for (long i = 1; i < n; i++)
		start(&threads[i], procedure, i);
	procedure((void *)0);
	for (long i = 1; i < n; i++)
		check("pthread_join", pthread_join(threads[i], NULL));
}

/* ---- lock ---- */

static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *arg)
{
	for (long i = 0; i < turns; i++) {
		pthread_mutex_lock(&section);
		candidate(0.5);
		rest(0.5);
		pthread_mutex_unlock(&section);
		rest(0.25);
	}
	return arg;
}

static void *other(void *arg)
{
	for (long i = 0; i < turns; i++) {
		pthread_mutex_lock(&section);
		rest(1);
		pthread_mutex_unlock(&section);
		if (arg)
			candidate(0.25);
		else
			rest(0.25);
	}
	return arg;
}

/* ---- chain, pipe ---- */

static sem_t tokens[3];

static void *chain(void *arg)
{
	long number = (long)arg;

	for (long i = 0; i < turns; i++) {
		while (sem_wait(&tokens[number]))
			;
		if (number == 1)
			candidate(1);
		else
			rest(0.5);
		sem_post(&tokens[(number + 1) % 3]);
	}
	return arg;
}

static int ends[2][2];

static void *pipes(void *arg)
{
	long number = (long)arg;
	char block[4096] = {0};

	for (long i = 0; i < turns; i++) {
		if (number && read(ends[number - 1][0], block, sizeof(block)) <= 0)
			die("read", errno);
		if (number == 1)
			candidate(1);
		else
			rest(0.4 + 0.1 * (double)number);
		if (number < 2 && write(ends[number][1], block, sizeof(block)) <= 0)
			die("write", errno);
	}
	return arg;
}

/* ---- barrier ---- */

static pthread_barrier_t meeting;

static void *barrier(void *arg)
{
	for (long i = 0; i < turns; i++) {
		if (!arg)
			candidate(0.5);
		rest(arg ? 0.3 : 0.5);
		pthread_barrier_wait(&meeting);
	}
	return arg;
}

static void *even(void *arg)
{
	for (long i = 0; i < turns; i++) {
		candidate(0.5);
		rest(0.5);
		pthread_barrier_wait(&meeting);
	}
	return arg;
}

/* ---- fork, crowd ---- */

static void *forked(void *arg)
{
	candidate(0.75);
	rest(0.25);
	return arg;
}

static void fork_and_join(void)
{
	pthread_t thread;

	for (long i = 0; i < turns; i++) {
		start(&thread, forked, 0);
		rest(0.5);
		check("pthread_join", pthread_join(thread, NULL));
	}
}

static void *crowd(void *arg)
{
	for (long i = 0; i < turns / 2; i++) {
		candidate(0.5);
		rest(0.5);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *shape = argc > 1 ? argv[1] : "lock";
	struct truth began = truth_now();

	percent = number_argument(argc, argv, 2, 100, 100);
	seconds = seconds_argument(argc, argv, 3, 1);
	unit = number_argument(argc, argv, 4, 5000, 1e6) / 1e6;
	turns = (long)(seconds / unit);
	for (int i = 0; i < 3; i++)
		sem_init(&tokens[i], 0, !i);
	for (int i = 0; i < 2; i++)
		check("pipe", pipe(ends[i]) ? errno : 0);
	pthread_barrier_init(&meeting, NULL, !strcmp(shape, "even") ? 2 : 3);
	if (!strcmp(shape, "lock"))
		run(lock, 2);
	else if (!strcmp(shape, "other"))
		run(other, 2);
	else if (!strcmp(shape, "chain"))
		run(chain, 3);
	else if (!strcmp(shape, "pipe"))
		run(pipes, 3);
	else if (!strcmp(shape, "barrier"))
		run(barrier, 3);
	else if (!strcmp(shape, "even"))
		run(even, 2);
	else if (!strcmp(shape, "crowd"))
		run(crowd, 4);
	else
		fork_and_join();
	truth_since(shape, began);
	return 0;
}
