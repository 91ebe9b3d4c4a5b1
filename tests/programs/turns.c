/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turns KIND HOLD_US SECONDS [THREADS]: threads that do nothing but take a lock, compute in hold_lock for
 * some HOLD_US, and let go of it. At each moment one of them computes and the others spin, so that the
 * normalized time of hold_lock is the time that the lock was held. KIND is the lock: spin (pthread_spin_lock), ticket, mcs;
 * or pass: each waits for what the one before has made; or barrier: one computes, the others wait at a barrier of
 * OpenMP, which spins where OMP_WAIT_POLICY is active.
 *
 * At the end: "truth hold_lock cpu_ns N elapsed_ns N", as in truth.h; cpu_ns is the time held, without the time
 * that a holder was off its processor.
 */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <x86intrin.h>

#include "tests/programs/truth.h"

#define MAX_THREADS 64
#define CALIBRATION 20000000 /* turns */

struct waiter {
	_Atomic(struct waiter *) next;
	atomic_int waits;
	uint32_t number;
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
static atomic_uint passed_to; /* number of the thread that may go on */
static uint32_t nthreads;

static const struct kind *kind;
static uint64_t turns;	  /* of compute_turns, for one hold */
static double tsc_per_ns; /* of the time-stamp counter */
static uint64_t hold_ns;
static uint64_t cpu_clock_ns; /* what a look at the clock of processor time takes */

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

/* A loop without PAUSE. */
static void take_pass(struct waiter *own)
{
	while (atomic_load_explicit(&passed_to, memory_order_acquire) != own->number)
		;
}

static void release_pass(struct waiter *own)
{
	atomic_store(&passed_to, (own->number + 1) % nthreads);
}

static const struct kind kinds[] = {
	{"spin", take_spin, release_spin}, {"ticket", take_ticket, release_ticket},
	{"mcs", take_mcs, release_mcs},	   {"pass", take_pass, release_pass},
	{"barrier", NULL, NULL},
};

/* ---- holding ---- */

static PROCEDURE void hold_lock(void)
{
	compute_turns(turns);
}

/* Whether the thread was preempted since the last call. */
static bool was_preempted(void)
{
	static __thread long before;
	struct rusage usage;
	bool was;

	getrusage(RUSAGE_THREAD, &usage);
	was = usage.ru_nivcsw != before;
	before = usage.ru_nivcsw;
	return was;
}

/*
 * Short holds cannot afford the clock of processor time, which is not part of hold_lock: only where one is much
 * too long it is asked why.
 */
static uint64_t held_once(void)
{
	bool is_long = hold_ns >= 200 * cpu_clock_ns;
	uint64_t cpu = is_long ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0, start, ns;

	start = __rdtsc();
	hold_lock();
	if (cpu)
		return clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	ns = (uint64_t)((double)(__rdtsc() - start) / tsc_per_ns);
	return ns >= hold_ns + 200000 && was_preempted() ? hold_ns : ns;
}

struct thread {
	pthread_t id;
	uint32_t number;
	uint64_t held;
};

static void *run(void *argument)
{
	struct thread *t = argument;
	struct waiter own = {.number = t->number};

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		kind->take(&own);
		t->held += held_once();
		kind->release(&own);
	}
	return NULL;
}

static uint64_t take_turns(double seconds)
{
	static struct thread threads[MAX_THREADS];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nthreads; i++) {
		threads[i].number = i;
		check("pthread_create", pthread_create(&threads[i].id, NULL, run, &threads[i]));
	}
	nanosleep(&(struct timespec) {(time_t)seconds,
				      (long)((seconds - (double)(time_t)seconds) * 1e9)},
		  NULL);
	atomic_store(&over, true);
	for (uint32_t i = 0; i < nthreads; i++) {
		check("pthread_join", pthread_join(threads[i].id, NULL));
		sum += threads[i].held;
	}
	return sum;
}

/* Who computes decides whether there is a next turn: all know it behind the barrier. */
static uint64_t meet(double seconds)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9), sum = 0;
	_Atomic uint64_t most = UINT64_MAX;

#pragma omp parallel num_threads(nthreads) reduction(+ : sum)
	for (uint64_t i = 0; i < atomic_load(&most); i++) {
		if (i % nthreads == (uint64_t)omp_get_thread_num()) {
			sum += held_once();
			if (clock_ns(CLOCK_MONOTONIC) > end)
				atomic_store(&most, i + 1);
		}
#pragma omp barrier
	}
	return sum;
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
	cpu_clock_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 100; i++)
		clock_ns(CLOCK_THREAD_CPUTIME_ID);
	cpu_clock_ns = (clock_ns(CLOCK_MONOTONIC) - cpu_clock_ns) / 100;
	hold_ns = (uint64_t)(hold_us * 1000);
	turns = (uint64_t)(best * (double)hold_ns);
}

int main(int argc, char **argv)
{
	double hold_us = number_argument(argc, argv, 2, 100, 1e6);
	double seconds = seconds_argument(argc, argv, 3, 3);
	struct truth start;
	uint64_t held;

	nthreads = (uint32_t)number_argument(argc, argv, 4, 2, MAX_THREADS);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind || !nthreads) {
		fprintf(stderr,
			"usage: turns spin|ticket|mcs|pass|barrier HOLD_US SECONDS [THREADS]\n");
		return 2;
	}
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	calibrate(hold_us);
	start = truth_now();
	held = kind->take ? take_turns(seconds) : meet(seconds);
	truth_print("hold_lock", held, truth_now().elapsed_ns - start.elapsed_ns);
	return 0;
}
