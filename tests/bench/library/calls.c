/* SPDX-License-Identifier: GPL-2.0-only */
/* calls WORKLOAD: programs that do little but call, for instrumentation by the compiler. Prints the
 * processor time in ns of one turn: `flat`, many small procedures; `recursive`, one that calls
 * itself twice. */
#include <string.h>

#include "tests/bench/library/bench.h"

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

/* ---- flat: three levels of small procedures ---- */

static NOINLINE unsigned mix(unsigned x)
{
	return x * 1664525 + 1013904223;
}

static NOINLINE unsigned rotate(unsigned x)
{
	return x << 5 | x >> 27;
}

static NOINLINE unsigned step(unsigned x)
{
	for (int i = 0; i < 4; i++)
		x = rotate(mix(x)) ^ mix(rotate(x));
	return x;
}

static NOINLINE void flat(void)
{
	for (int i = 0; i < 1000; i++)
		sink = step(sink);
}

/* ---- recursive ---- */

static NOINLINE unsigned fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE void recursive(void)
{
	sink = fibonacci(18);
}

int UNTOLD main(int argc, char **argv)
{
	void (*run)(void) = argc > 1 && !strcmp(argv[1], "recursive") ? recursive : flat;

	printf("%.0f\n", BENCH(20, run()));
	return 0;
}
