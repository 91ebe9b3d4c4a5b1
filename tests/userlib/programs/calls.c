/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls: built with -finstrument-functions; calls known numbers of procedures in all the ways that
 * go wrong. Prints "NAME ADDRESS" of its procedures, and stays in main -> last until its input ends.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userlib/quartz.h"

#define THREADS 4
#define CALLS	1000
#define DEEP	500

#define UNTOLD __attribute__((no_instrument_function))

static volatile int sink;
static __thread jmp_buf back;

/* ---- recursion ---- */

__attribute__((noinline)) void leaf(void)
{
	sink++;
}

__attribute__((noinline)) void recursive(int times)
{
	if (times)
		recursive(times - 1);
	leaf();
}

__attribute__((noinline)) void even(int times);

__attribute__((noinline)) void odd(int times)
{
	if (times)
		even(times - 1);
	sink++;
}

__attribute__((noinline)) void even(int times)
{
	if (times)
		odd(times - 1);
	sink++;
}

/* ---- ends that are not told ---- */

__attribute__((noinline)) void jump(int times)
{
	if (times)
		jump(times - 1);
	if (sink >= 0)
		longjmp(back, 1);
}

__attribute__((noinline)) void come_back(void)
{
	if (!setjmp(back))
		jump(3);
	leaf();
}

__attribute__((noinline)) void with_array(int size)
{
	char *array = alloca(size);

	memset(array, 1, size);
	leaf();
	sink += array[size / 2];
}

/* Its hooks have the frame of who has it. */
static inline __attribute__((always_inline)) void inlined(void)
{
	leaf();
	sink++;
}

__attribute__((noinline)) void has_inlined(void)
{
	inlined();
	leaf();
	inlined();
}

__attribute__((noinline)) void excluded(void)
{
	leaf();
}

/* ---- many callees, so that the thread's table of calls is not enough ---- */

#define MANY(x)                                                                                    \
	__attribute__((noinline)) void many_##x(void)                                              \
	{                                                                                          \
		sink += x + 1;                                                                     \
	}
#define TEN(m, x) m(x##0) m(x##1) m(x##2) m(x##3) m(x##4) m(x##5) m(x##6) m(x##7) m(x##8) m(x##9)
#define HUNDRED(m, x)                                                                              \
	TEN(m, x##0)                                                                               \
	TEN(m, x##1)                                                                               \
	TEN(m, x##2)                                                                               \
	TEN(m, x##3)                                                                               \
	TEN(m, x##4) TEN(m, x##5) TEN(m, x##6) TEN(m, x##7) TEN(m, x##8) TEN(m, x##9)
#define ALL(m) HUNDRED(m, 1) HUNDRED(m, 2) HUNDRED(m, 3) HUNDRED(m, 4)

ALL(MANY)

#define CALL(x) many_##x();

__attribute__((noinline)) void call_many(void)
{
	ALL(CALL)
}

/* ---- all of it ---- */

static void *UNTOLD work(void *unused)
{
	for (int i = 0; i < CALLS; i++) {
		recursive(9);
		odd(DEEP);
		come_back();
		with_array(64 + i);
		has_inlined();
		excluded();
		call_many();
	}
	return NULL;
}

#define SAY(name)   printf(#name " %p\n", (void *)(uintptr_t)name)
#define SAY_MANY(x) SAY(many_##x);

static void UNTOLD say_names(void)
{
	SAY(leaf);
	SAY(recursive);
	SAY(even);
	SAY(odd);
	SAY(jump);
	SAY(come_back);
	SAY(with_array);
	SAY(inlined);
	SAY(has_inlined);
	SAY(excluded);
	SAY(call_many);
	ALL(SAY_MANY)
}

__attribute__((noinline)) void last(void)
{
	char c;

	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	sink++;
}

int UNTOLD main(void)
{
	pthread_t threads[THREADS];

	quartz_exclude((const void *)(uintptr_t)excluded);
	say_names();
	SAY(last);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	last();
	return 0;
}
