/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock_queue [THREADS [TURNS [US [write|word|alternate]]]]: threads that take turns at one mutex, hot_lock,
 * which they hold for that many microseconds of processor time; or at hot_rwlock, for writing; or at
 * hot_word, which stores no owner, and which the thread that releases it mostly takes again before the one
 * that it woke. They let go for a moment only, so that all the others queue; who alternates, until another
 * thread has it. Tells the time that the lock was held, and of hot_lock, how much of that in turns at whose
 * end a thread queued.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/truth.h"

pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t hot_rwlock = PTHREAD_RWLOCK_INITIALIZER;
_Atomic int hot_word; /* 0: free, 1: taken, 2: others may wait */
static _Atomic long taken, ended;
static bool writes, by_word, alternates;
static long turns;
static uint64_t hold_ns, held_cpu_ns, wanted_cpu_ns;

PROCEDURE static void critical_section(void)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < start + hold_ns)
		compute_turns(500);
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	held_cpu_ns += start;
	if (hot_lock.__data.__lock > 1) /* glibc: taken, and a thread sleeps */
		wanted_cpu_ns += start;
}

static void take_word(void)
{
	int found = 0;

	if (atomic_compare_exchange_strong(&hot_word, &found, 1))
		return;
	while (atomic_exchange(&hot_word, 2))
		syscall(SYS_futex, &hot_word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void leave_word(void)
{
	if (atomic_exchange(&hot_word, 0) == 2)
		syscall(SYS_futex, &hot_word, FUTEX_WAKE_PRIVATE, 1);
}

PROCEDURE static void *word_contender(void *arg)
{
	for (long i = 0; i < turns; i++) {
		take_word();
		critical_section();
		leave_word();
	}
	return NULL;
}

/* Until another thread has what was taken as the `turn`th, or there is no other. */
static void let_others(long turn)
{
	while (alternates && taken == turn && !ended)
		; /* PAUSE makes hypervisors take the processor */
	sched_yield();
}

PROCEDURE static void *contender(void *arg)
{
	for (long i = 0; i < turns; i++) {
		long turn;

		if (writes)
			pthread_rwlock_wrlock(&hot_rwlock);
		else
			pthread_mutex_lock(&hot_lock);
		turn = ++taken;
		critical_section();
		if (writes)
			pthread_rwlock_unlock(&hot_rwlock);
		else
			pthread_mutex_unlock(&hot_lock);
		let_others(turn);
	}
	ended++;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = count_argument(argc, argv, 1, 2);
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	turns = count_argument(argc, argv, 2, 500);
	hold_ns = (uint64_t)count_argument(argc, argv, 3, 1000) * 1000;
	writes = argc > 4 && !strcmp(argv[4], "write");
	by_word = argc > 4 && !strcmp(argv[4], "word");
	alternates = argc > 4 && !strcmp(argv[4], "alternate");
	if (!threads)
		die("lock_queue", ENOMEM);
	for (long i = 0; i < n; i++)
		check("pthread_create", pthread_create(&threads[i], NULL,
						       by_word ? word_contender : contender, NULL));
	for (long i = 0; i < n; i++)
		check("pthread_join", pthread_join(threads[i], NULL));
	truth_print("critical_section", held_cpu_ns, clock_ns(CLOCK_MONOTONIC) - start);
	truth_print("wanted", wanted_cpu_ns, clock_ns(CLOCK_MONOTONIC) - start);
	free(threads);
	return 0;
}
