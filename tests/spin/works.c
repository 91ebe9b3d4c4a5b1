/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * works CASE SECONDS: a thread works, in code that looks like a wait. "works" alone lists the cases.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile bool stop;
static volatile uint64_t sink;

static inline void relax(void)
{
	__builtin_ia32_pause();
}

/* ---- locks that no other thread wants ---- */

static atomic_flag bit = ATOMIC_FLAG_INIT;
static uint64_t shared[64];

static void work_free_lock(void)
{
	for (uint64_t i = 0; !stop; i++) {
		while (atomic_flag_test_and_set_explicit(&bit, memory_order_acquire))
			;
		shared[i % 64] += i;
		atomic_flag_clear_explicit(&bit, memory_order_release);
	}
}

static void work_free_lock_pause(void)
{
	for (uint64_t i = 0; !stop; i++) {
		while (atomic_flag_test_and_set_explicit(&bit, memory_order_acquire))
			relax();
		shared[i % 64] += i;
		atomic_flag_clear_explicit(&bit, memory_order_release);
	}
}

static void work_free_spin_lock(void)
{
	static pthread_spinlock_t lock;

	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	for (uint64_t i = 0; !stop; i++) {
		pthread_spin_lock(&lock);
		shared[i % 64] += i;
		pthread_spin_unlock(&lock);
	}
}

static void work_free_ticket(void)
{
	static _Atomic unsigned int next, serving;

	for (uint64_t i = 0; !stop; i++) {
		unsigned int mine = atomic_fetch_add(&next, 1);

		while (atomic_load(&serving) != mine)
			relax();
		shared[i % 64] += i;
		atomic_fetch_add(&serving, 1);
	}
}

/* ---- lock-free ---- */

static void work_compare_and_swap(void)
{
	static _Atomic uint64_t word;

	while (!stop) {
		uint64_t old = atomic_load(&word);

		while (!atomic_compare_exchange_weak(&word, &old, old * 3 + 1))
			;
	}
}

static void work_seqlock(void)
{
	static _Atomic unsigned int sequence;

	while (!stop) {
		unsigned int before;
		uint64_t sum;

		do {
			before = atomic_load_explicit(&sequence, memory_order_acquire);
			sum = 0;
			for (int i = 0; i < 64; i++)
				sum += ((volatile uint64_t *)shared)[i];
			atomic_thread_fence(memory_order_acquire);
		} while (before & 1 ||
			 atomic_load_explicit(&sequence, memory_order_relaxed) != before);
		sink = sum;
	}
}

/* ---- loops that end by what they find ---- */

struct node {
	struct node *next;
	uint64_t key;
};

static void work_list(void)
{
	static struct node nodes[1000];

	for (int i = 0; i < 1000; i++)
		nodes[i] = (struct node) {i < 999 ? &nodes[i + 1] : NULL, (uint64_t)i};
	while (!stop) {
		struct node *n = nodes;

		while (n && n->key != 900)
			n = n->next;
		sink = (uintptr_t)n;
	}
}

static void work_search(void)
{
	static char text[4096];

	memset(text, 'a', sizeof(text) - 1);
	while (!stop) {
		const volatile char *p = text;

		while (*p)
			p++;
		sink = (uint64_t)(p - text);
	}
}

static void work_bisection(void)
{
	static uint64_t keys[4096];
	uint64_t wanted = 1;

	for (uint64_t i = 0; i < 4096; i++)
		keys[i] = i << 52;
	while (!stop) {
		size_t low = 0, high = 4096;

		wanted = wanted * 6364136223846793005u + 1;
		while (high - low > 1) {
			size_t middle = (low + high) / 2;

			if (keys[middle] <= wanted)
				low = middle;
			else
				high = middle;
		}
		sink = low;
	}
}

/* ---- loops with a flag ---- */

static void work_until_stop(void)
{
	uint64_t x = 88172645463325252u;

	while (!stop) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
}

/* Never empty: the pause is not taken. */
static void work_queue(void)
{
	static _Atomic uint64_t head = 1;
	uint64_t tail = 0;

	while (!stop) {
		if (atomic_load_explicit(&head, memory_order_acquire) == tail) {
			relax();
			continue;
		}
		shared[tail % 64] = shared[(tail + 1) % 64] * 31 + tail;
		tail++;
		atomic_store_explicit(&head, tail + 1, memory_order_release);
	}
}

/* Looks a thousand times for work before it would sleep: there is always some. */
static void work_limited(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static _Atomic uint64_t pending = 1;

	for (uint64_t i = 0; !stop; i++) {
		for (int n = 0; n < 1000; n++)
			if (atomic_load(&pending))
				break;
		if (!atomic_load(&pending)) {
			pthread_mutex_lock(&gate);
			pthread_mutex_unlock(&gate);
			continue;
		}
		shared[i % 64] += i;
		atomic_store(&pending, i | 1);
	}
}

static void work_allocate(void)
{
	void *blocks[64] = {NULL};

	for (uint64_t i = 0; !stop; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(16 + i * 7 % 1000);
	}
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
}

static const struct {
	const char *name;
	void (*work)(void);
} cases[] = {
	{"free_lock", work_free_lock},
	{"free_lock_pause", work_free_lock_pause},
	{"free_spin_lock", work_free_spin_lock},
	{"free_ticket", work_free_ticket},
	{"compare_and_swap", work_compare_and_swap},
	{"seqlock", work_seqlock},
	{"list", work_list},
	{"search", work_search},
	{"bisection", work_bisection},
	{"until_stop", work_until_stop},
	{"queue", work_queue},
	{"limited", work_limited},
	{"allocate", work_allocate},
};

static void *run(void *work)
{
	((void (*)(void))(uintptr_t)work)();
	return NULL;
}

static int run_case(size_t i, double seconds)
{
	struct timespec ts = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)cases[i].work))
		return 1;
	nanosleep(&ts, NULL);
	stop = true;
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
