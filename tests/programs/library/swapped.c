/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One of two libraries that dlopen_swap.c loads in turn at the same place: they differ in the names of
 * their procedures, in where these are and in what they put on the stack.
 */
#include <stdint.h>
#include <time.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define OWN(name)   JOIN(LIBRARY, name)
#ifdef __clang__
#define PROCEDURE __attribute__((noinline))
#else
#define PROCEDURE __attribute__((noinline, noclone))
#endif

double work(double seconds);

/*
 * Is where the other library has its work, and never runs: a sample with this name was taken in the other one.
 * In the first library it comes first, in the second one last.
 */
#define NEVER                                                                                      \
	__attribute__((used, noinline)) static void OWN(never)(void)                               \
	{                                                                                          \
		__asm__ volatile(".skip 4096, 0x90");                                              \
	}

#if NEVER_FIRST
NEVER
#endif

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Takes ROOM words of stack. */
PROCEDURE static double OWN(leaf)(double x)
{
	volatile double room[ROOM];

	for (int i = 0; i < ROOM; i++)
		room[i] = x + i;
	for (int i = 0; i < 20000; i++)
		room[i % ROOM] = room[(i * 7) % ROOM] * 0.5 + x;
	return room[ROOM - 1];
}

PROCEDURE static double OWN(middle)(double x)
{
	volatile double room[ROOM * 3];

	room[ROOM] = x;
	return OWN(leaf)(room[ROOM]) + room[ROOM];
}

PROCEDURE static double OWN(work)(double seconds)
{
	uint64_t end = cpu_ns() + (uint64_t)(seconds * 1e9);
	double x = 1;

	while (cpu_ns() < end)
		x = x * 0.5 + OWN(middle)(x) * 1e-9;
	return x;
}

double work(double seconds)
{
	return OWN(work)(seconds) + 1;
}

#if !NEVER_FIRST
NEVER
#endif
