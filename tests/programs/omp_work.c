/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * omp_work [SECONDS [N]]: computes SECONDS alone in serial_part, then SECONDS in each of N threads in
 * the parallel loop of compute.
 */
#include "tests/programs/truth.h"

#define PIECES 20 /* of each thread's share */

PROCEDURE static void serial_part(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("serial_part", start);
}

PROCEDURE static void compute(double seconds, int threads)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu_ns = 0;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : cpu_ns)
	for (int i = 0; i < PIECES * threads; i++) {
		uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		compute_seconds(seconds / PIECES);
		cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	}
	truth_print("compute", cpu_ns, clock_ns(CLOCK_MONOTONIC) - start);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	int threads = (int)number_argument(argc, argv, 2, 2, 1024);

	serial_part(seconds);
	if (threads)
		compute(seconds, threads);
	return 0;
}
