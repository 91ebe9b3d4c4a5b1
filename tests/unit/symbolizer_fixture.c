/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose procedures the tests of the symbolizer know: built in several ways, and run with
 * a thread to catch it in clone.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

volatile uint64_t fixture_sink;

static NOINLINE void local_leaf(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		fixture_sink += i;
}

NOINLINE void global_leaf(uint64_t n)
{
	local_leaf(n + 1);
	fixture_sink ^= n;
}

/* The better one of two names for one procedure has fewer underscores. */
NOINLINE void __fixture_write(uint64_t n)
{
	fixture_sink += 3 * n;
}
void fixture_write(uint64_t n) __attribute__((weak, alias("__fixture_write")));

/* A label of assembler code, without type and size, and the procedure that follows it. */
void unsized_entry(void);
__asm__(".text\n.globl unsized_entry\nunsized_entry:\n\tnop\n\tnop\n\tret\n"
	".globl sized_entry\n.type sized_entry, @function\nsized_entry:\n\tnop\n\tret\n"
	".size sized_entry, .-sized_entry\n");

static inline __attribute__((always_inline)) void inlined_inner(uint64_t n)
{
	fixture_sink += n * strtoull("7", NULL, 10); /* line of inlined_inner */
}

static inline __attribute__((always_inline)) void inlined_outer(uint64_t n)
{
	inlined_inner(n + 2); /* line of inlined_outer */
}

NOINLINE void inline_host(uint64_t n)
{
	inlined_outer(n); /* line of inline_host */
	fixture_sink++;
}

static void *worker(void *arg)
{
	global_leaf((uintptr_t)arg);
	return NULL;
}

NOINLINE void spawn_worker(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, (void *)1) == 0)
		pthread_join(thread, NULL);
	fixture_sink++;
}

int main(void)
{
	global_leaf(2);
	fixture_write(3);
	unsized_entry();
	inline_host(4);
	spawn_worker();
	return 0;
}
