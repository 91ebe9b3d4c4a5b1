/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deep DEPTH [SECONDS]: main calls first and second in turn, ten times. Each calls itself by way of recurse, DEPTH times, and
 * then leaf, which computes a tenth of SECONDS for first, and a half of that for second.
 */
#include "tests/programs/truth.h"

static double seconds;
static long depth;

PROCEDURE static void leaf(double share)
{
	compute_seconds(share * seconds);
}

PROCEDURE static void recurse(long left, double share)
{
	if (left)
		recurse(left - 1, share);
	else
		leaf(share);
	__asm__ volatile("");
}

PROCEDURE static void first(void)
{
	recurse(depth, 0.1);
	__asm__ volatile("");
}

PROCEDURE static void second(void)
{
	volatile char room[100] = {0};

	recurse(depth, 0.05 + room[0]);
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns[2] = {0};

	depth = argc > 1 ? atol(argv[1]) : 0;
	seconds = seconds_argument(argc, argv, 2, 1);
	for (int i = 0; i < 20; i++) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		if (i % 2)
			second();
		else
			first();
		cpu_ns[i % 2] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	}
	truth_print("first", cpu_ns[0], 0);
	truth_print("second", cpu_ns[1], 0);
	return 0;
}
