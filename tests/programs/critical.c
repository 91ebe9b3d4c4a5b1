/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * critical [lock|serial [SECONDS]]
 *
 * lock: two threads go through a critical section in turn. Nine tenths of what one does inside the
 * other does outside meanwhile, so that the section is nearly never free: it alone limits the program,
 * and what is outside costs nothing, though it has nearly half of the normalized time.
 *
 * serial: one thread computes alone, and no thread waits for it; then two side by side, of which one
 * waits at last for the other's end. Each phase costs its elapsed time.
 */
#include <pthread.h>
#include <stdbool.h>

#include "tests/programs/truth.h"

#define INSIDE	0.010
#define OUTSIDE 0.009

static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;
static long turns;
static double seconds;

PROCEDURE static void inside(void)
{
	compute_seconds(INSIDE);
}

PROCEDURE static void critical(void)
{
	check("pthread_mutex_lock", pthread_mutex_lock(&section));
	inside();
	check("pthread_mutex_unlock", pthread_mutex_unlock(&section));
}

PROCEDURE static void outside(void)
{
	compute_seconds(OUTSIDE);
}

PROCEDURE static void *worker(void *arg)
{
	for (long i = 0; i < turns; i++) {
		critical();
		outside();
	}
	return NULL;
}

/* The second thread has more to do, so that the first one waits for it. */
PROCEDURE static void *parallel(void *arg)
{
	compute_seconds(arg ? seconds : 2 * seconds);
	return NULL;
}

PROCEDURE static void serial(void)
{
	compute_seconds(seconds);
}

/* The calling thread is one of the two, so that it waits for the other's end only at the end. */
static void run_two(void *(*procedure)(void *))
{
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, procedure, NULL));
	procedure(&thread);
	check("pthread_join", pthread_join(thread, NULL));
}

int main(int argc, char **argv)
{
	bool by_lock = argc < 2 || !strcmp(argv[1], "lock");

	seconds = seconds_argument(argc, argv, 2, 1);
	turns = (long)(seconds / INSIDE / 2);
	if (by_lock) {
		run_two(worker);
		return 0;
	}
	serial();
	run_two(parallel);
	return 0;
}
