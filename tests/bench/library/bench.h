/* SPDX-License-Identifier: GPL-2.0-only */
/* Time for the benchmarks of libquartz: the processor time of this thread, so that what else is busy
 * on the machine does not count. */
#ifndef QUARTZ_TESTS_BENCH_LIBRARY_BENCH_H
#define QUARTZ_TESTS_BENCH_LIBRARY_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNTOLD __attribute__((no_instrument_function))

static inline double UNTOLD bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* ns per turn of the statement: the least of some rounds. */
#define BENCH(turns, ...)                                                                          \
	({                                                                                         \
		double least_ = 1e18;                                                              \
                                                                                                   \
		for (int round_ = 0; round_ < 25; round_++) {                                      \
			double start_ = bench_now();                                               \
                                                                                                   \
			for (int i = 0; i < (turns); i++) {                                        \
				__VA_ARGS__;                                                       \
				__asm__ volatile("" ::: "memory");                                 \
			}                                                                          \
			start_ = (bench_now() - start_) / (turns);                                 \
			least_ = start_ < least_ ? start_ : least_;                                \
		}                                                                                  \
		least_;                                                                            \
	})

#endif
