/* SPDX-License-Identifier: GPL-2.0-only */
/* scopes: about a million scopes a second, by hand, around a microsecond of work each. Prints the
 * processor time in ns of one. Built once with QUARTZ_DISABLE, too. */
#include "tests/bench/library/bench.h"
#include "userlib/quartz.h"

static volatile unsigned sink;

static void __attribute__((noinline)) work(void)
{
	unsigned x = sink;
	QUARTZ_SCOPE("work");

	for (int i = 0; i < 450; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

int main(void)
{
	printf("%.3f\n", BENCH(20000, work()));
	return 0;
}
