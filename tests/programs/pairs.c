/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs [SECONDS]: one thread computes in steady; another one meanwhile in first for the first quarter of each fifth of
 * a second, by the clock, and in second for the rest.
 */
#include <pthread.h>
#include <stdbool.h>

#include "tests/programs/truth.h"

#define PERIOD 200000000u

static uint64_t end;

static PROCEDURE void steady(void)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		compute_turns(TURNS_PER_LOOK);
}

static bool is_early(uint64_t now)
{
	return now % PERIOD < PERIOD / 4;
}

static PROCEDURE void first(void)
{
	while (is_early(clock_ns(CLOCK_MONOTONIC)))
		compute_turns(TURNS_PER_LOOK);
}

static PROCEDURE void second(void)
{
	while (!is_early(clock_ns(CLOCK_MONOTONIC)))
		compute_turns(TURNS_PER_LOOK);
}

static void *alternate(void *unused)
{
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		first();
		second();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;

	end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(1e9 * seconds_argument(argc, argv, 1, 5));
	check("pthread_create", pthread_create(&other, NULL, alternate, NULL));
	steady();
	check("pthread_join", pthread_join(other, NULL));
	return 0;
}
