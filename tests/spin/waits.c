/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits CASE SECONDS: a thread waits, in the way of the case, for what main does after that time.
 * "waits" alone lists the cases.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile int flag, second;
static _Atomic int word;
static atomic_flag bit = ATOMIC_FLAG_INIT;
static pthread_spinlock_t spinlock;
static volatile uint64_t counters[8];
static struct queue {
	_Atomic unsigned int head, tail;
	int items[64];
} queue;
static _Atomic unsigned int ticket, serving;

static inline void relax(void)
{
	__builtin_ia32_pause();
}

/* ---- the ways to wait ---- */

static void wait_pthread_spin_lock(void)
{
	pthread_spin_lock(&spinlock);
}

static void wait_c11_pause(void)
{
	while (!atomic_load_explicit(&word, memory_order_acquire))
		relax();
}

static void wait_volatile(void)
{
	while (!flag)
		;
}

static void wait_atomic(void)
{
	while (!atomic_load(&word))
		;
}

static void wait_sched_yield(void)
{
	while (!flag)
		sched_yield();
}

static void wait_tas(void)
{
	while (atomic_flag_test_and_set(&bit))
		;
}

static void wait_tas_pause(void)
{
	while (atomic_flag_test_and_set(&bit))
		relax();
}

static void wait_cas(void)
{
	int expected = 1;

	while (!atomic_compare_exchange_weak(&word, &expected, 2))
		expected = 1;
}

static void wait_ttas(void)
{
	for (;;) {
		while (!atomic_load_explicit(&word, memory_order_relaxed))
			;
		if (atomic_exchange(&word, 0))
			return;
	}
}

__attribute__((noinline)) static int get_flag(void)
{
	return flag;
}

static void wait_getter(void)
{
	while (!get_flag())
		;
}

static void wait_call_pause(void)
{
	while (!get_flag())
		relax();
}

__attribute__((noinline)) static void back_off(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		relax();
}

static void wait_backoff(void)
{
	unsigned int turns = 1;

	while (!flag) {
		back_off(turns);
		if (turns < 64)
			turns *= 2;
	}
}

static void wait_queue(void)
{
	while (atomic_load_explicit(&queue.head, memory_order_acquire) ==
	       atomic_load_explicit(&queue.tail, memory_order_acquire))
		;
}

static void wait_bounded(void)
{
	while (!flag)
		for (int i = 0; i < 100000 && !flag; i++)
			;
}

/* The lock is free: who wants this thread to sleep holds it. */
static void wait_limited(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

	for (;;) {
		for (int i = 0; i < 1000000; i++)
			if (atomic_load(&word))
				break;
		if (atomic_load(&word))
			return;
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
	}
}

static void wait_delay(void)
{
	while (!flag)
		for (int i = 0; i < 100; i++)
			__asm__ volatile("");
}

static void wait_two_flags(void)
{
	while (!flag || !second)
		;
}

static void wait_pause_yield(void)
{
	for (unsigned int i = 1; !flag; i++)
		if (i % 64)
			relax();
		else
			sched_yield();
}

static void wait_clock(void)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_MONOTONIC, &ts);
	while (!flag);
}

static void wait_counter(void)
{
	while (counters[3] < 100)
		;
}

static void wait_ticket(void)
{
	unsigned int mine = atomic_fetch_add(&ticket, 1) + 1;

	while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
		relax();
}

static void wait_tsc(void)
{
	uint64_t last = 0;

	while (!flag && __builtin_ia32_rdtsc() >= last)
		;
}

struct node {
	struct node *next;
	volatile bool locked;
};

static struct node *volatile here;

static void wait_mcs(void)
{
	struct node own = {.locked = true};

	here = &own;
	while (own.locked)
		;
	here = NULL;
}

static const struct {
	const char *name;
	void (*wait)(void);
} cases[] = {
	{"pthread_spin_lock", wait_pthread_spin_lock},
	{"c11_pause", wait_c11_pause},
	{"volatile", wait_volatile},
	{"atomic", wait_atomic},
	{"sched_yield", wait_sched_yield},
	{"tas", wait_tas},
	{"tas_pause", wait_tas_pause},
	{"cas", wait_cas},
	{"ttas", wait_ttas},
	{"getter", wait_getter},
	{"call_pause", wait_call_pause},
	{"backoff", wait_backoff},
	{"queue", wait_queue},
	{"bounded", wait_bounded},
	{"limited", wait_limited},
	{"delay", wait_delay},
	{"two_flags", wait_two_flags},
	{"pause_yield", wait_pause_yield},
	{"clock", wait_clock},
	{"counter", wait_counter},
	{"ticket", wait_ticket},
	{"tsc", wait_tsc},
	{"mcs", wait_mcs},
};

/* Ends the wait of any case. */
static void release(void)
{
	flag = second = 1;
	atomic_store(&word, 1);
	atomic_flag_clear(&bit);
	pthread_spin_unlock(&spinlock);
	atomic_store(&queue.head, 1);
	counters[3] = 100;
	atomic_store(&serving, 1);
	if (here)
		here->locked = false;
}

static void *run(void *wait)
{
	((void (*)(void))(uintptr_t)wait)();
	return NULL;
}

static int run_case(size_t i, double seconds)
{
	struct timespec ts = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	pthread_t thread;

	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&spinlock);
	(void)atomic_flag_test_and_set(&bit);
	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)cases[i].wait))
		return 1;
	nanosleep(&ts, NULL);
	release();
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char *argv[])
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc < 2)
			puts(cases[i].name);
		else if (argc == 3 && !strcmp(argv[1], cases[i].name))
			return run_case(i, atof(argv[2]));
	return argc < 2 ? 0 : 2;
}
