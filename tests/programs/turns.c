/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turns KIND HOLD_US SECONDS [THREADS]: threads that do nothing but take a lock, compute in hold_lock for
 * some HOLD_US, and let go of it. At each moment one of them computes and the others spin, so that the
 * normalized time of hold_lock is the time that the lock was held. KIND is the lock: spin (pthread_spin_lock), ticket, mcs.
 *
 * At the end: "truth hold_lock cpu_ns N elapsed_ns N", as in truth.h; cpu_ns is the time held, without the time
 * that a holder was off its processor.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <x86intrin.h>

#include "tests/programs/truth.h"

#define MAX_THREADS 64
#define CALIBRATION 20000000 /* turns */

struct waiter {
	_Atomic(struct waiter *) next;
	atomic_int waits;
};

struct kind {
	const char *name;
	void (*take)(struct waiter *own);
	void (*release)(struct waiter *own);
};

static pthread_spinlock_t lock;
static atomic_uint next_ticket, now_serving;
static _Atomic(struct waiter *) last;
static atomic_bool over;

static const struct kind *kind;
static uint64_t turns;	  /* of compute_turns, for one hold */
static double tsc_per_ns; /* of the time-stamp counter */
static uint64_t hold_ns;

/* ---- locks ---- */

static void take_spin(struct waiter *own)
{
	pthread_spin_lock(&lock);
	atomic_store(&last, own);
}

/* Not at once again: who spins must look before this processor, which has the word in its cache, takes it back. */
static void release_spin(struct waiter *own)
{
	pthread_spin_unlock(&lock);
	for (int i = 0; i < 1000 && atomic_load(&last) == own; i++)
		_mm_pause();
}

static void take_ticket(struct waiter *unused)
{
	unsigned int mine = atomic_fetch_add(&next_ticket, 1);

	(void)unused;
	while (atomic_load(&now_serving) != mine)
		_mm_pause();
}

static void release_ticket(struct waiter *unused)
{
	(void)unused;
	atomic_fetch_add(&now_serving, 1);
}

static void take_mcs(struct waiter *own)
{
	struct waiter *before;

	atomic_store(&own->next, NULL);
	atomic_store(&own->waits, 1);
	before = atomic_exchange(&last, own);
	if (!before)
		return;
	atomic_store(&before->next, own);
	while (atomic_load(&own->waits))
		_mm_pause();
}

static void release_mcs(struct waiter *own)
{
	struct waiter *expected = own;

	if (!atomic_load(&own->next)) {
		if (atomic_compare_exchange_strong(&last, &expected, NULL))
			return;
		while (!atomic_load(&own->next))
			_mm_pause();
	}
	atomic_store(&atomic_load(&own->next)->waits, 0);
}

static const struct kind kinds[] = {
	{"spin", take_spin, release_spin},
	{"ticket", take_ticket, release_ticket},
	{"mcs", take_mcs, release_mcs},
};

/* ---- holding ---- */

static PROCEDURE void hold_lock(void)
{
	compute_turns(turns);
}

/* Short holds cannot afford the clock of processor time: what is much too long was preempted. */
static uint64_t held_once(void)
{
	uint64_t cpu = hold_ns >= 50000 ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0, start, ns;

	start = __rdtsc();
	hold_lock();
	if (cpu)
		return clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	ns = (uint64_t)((double)(__rdtsc() - start) / tsc_per_ns);
	return ns < hold_ns + 200000 ? ns : hold_ns;
}

static void *run(void *held)
{
	struct waiter own = {.next = NULL};
	uint64_t sum = 0;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		kind->take(&own);
		sum += held_once();
		kind->release(&own);
	}
	*(uint64_t *)held = sum;
	return NULL;
}

/* ---- */

static void calibrate(double hold_us)
{
	double best = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t ns = clock_ns(CLOCK_MONOTONIC), tsc = __rdtsc();

		compute_turns(CALIBRATION / 5);
		tsc = __rdtsc() - tsc;
		ns = clock_ns(CLOCK_MONOTONIC) - ns;
		tsc_per_ns = (double)tsc / (double)ns;
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		if (CALIBRATION / 5 / (double)cpu > best)
			best = CALIBRATION / 5 / (double)cpu;
	}
	hold_ns = (uint64_t)(hold_us * 1000);
	turns = (uint64_t)(best * (double)hold_ns);
}

int main(int argc, char **argv)
{
	double hold_us = number_argument(argc, argv, 2, 100, 1e6);
	double seconds = seconds_argument(argc, argv, 3, 3);
	long n = (long)number_argument(argc, argv, 4, 2, MAX_THREADS);
	pthread_t threads[MAX_THREADS];
	uint64_t held[MAX_THREADS] = {0}, sum = 0;
	struct truth start;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind || n < 1) {
		fprintf(stderr, "usage: turns spin|ticket|mcs HOLD_US SECONDS [THREADS]\n");
		return 2;
	}
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	calibrate(hold_us);
	start = truth_now();
	for (long i = 0; i < n; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, run, &held[i]));
	nanosleep(&(struct timespec) {(time_t)seconds,
				      (long)((seconds - (double)(time_t)seconds) * 1e9)},
		  NULL);
	atomic_store(&over, true);
	for (long i = 0; i < n; i++) {
		check("pthread_join", pthread_join(threads[i], NULL));
		sum += held[i];
	}
	truth_print("hold_lock", sum, truth_now().elapsed_ns - start.elapsed_ns);
	return 0;
}
