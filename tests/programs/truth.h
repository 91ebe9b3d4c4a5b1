/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the test programs share: computing for a known processor time, and telling the truth
 * about it in lines that a test can read:
 *
 *	truth PROCEDURE cpu_ns N elapsed_ns N
 */
#ifndef QUARTZ_TESTS_PROGRAMS_TRUTH_H
#define QUARTZ_TESTS_PROGRAMS_TRUTH_H

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Keeps a procedure whole under its own name: not inlined, cloned or specialised. */
#ifdef __clang__
#define PROCEDURE __attribute__((noinline))
#else
#define PROCEDURE __attribute__((noipa))
#endif

/* About 0.2 ms: the clock's share of the samples stays below one in a hundred. */
#define TURNS_PER_LOOK 200000

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Part of its caller, so that the time is the caller's own. Something on the stack, because gcc makes
 * no frame, whatever the options, for a leaf that has nothing there.
 */
static inline __attribute__((always_inline)) void compute_turns(uint64_t turns)
{
	volatile uint64_t first = turns;
	uint64_t x = first;

	for (uint64_t i = 0; i < turns; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
}

/* Computes for that much processor time of the calling thread. */
static inline __attribute__((always_inline)) void compute_seconds(double seconds)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		compute_turns(TURNS_PER_LOOK);
}

struct truth {
	uint64_t cpu_ns, elapsed_ns;
};

/* Of the calling thread. */
static inline struct truth truth_now(void)
{
	return (struct truth) {
		.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		.elapsed_ns = clock_ns(CLOCK_MONOTONIC),
	};
}

static inline void truth_print(const char *procedure, uint64_t cpu_ns, uint64_t elapsed_ns)
{
	printf("truth %s cpu_ns %" PRIu64 " elapsed_ns %" PRIu64 "\n", procedure, cpu_ns,
	       elapsed_ns);
	fflush(stdout);
}

/* Prints what the calling thread spent since `start`. */
static inline void truth_since(const char *procedure, struct truth start)
{
	struct truth now = truth_now();

	truth_print(procedure, now.cpu_ns - start.cpu_ns, now.elapsed_ns - start.elapsed_ns);
}

static inline _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

static inline void check(const char *what, int error)
{
	if (error)
		die(what, error);
}

/* argv[i] as a number within 0..max, or `fallback` where there are not so many arguments. */
static inline double number_argument(int argc, char **argv, int i, double fallback, double max)
{
	char *end;
	double value;

	if (i >= argc)
		return fallback;
	value = strtod(argv[i], &end);
	if (end == argv[i] || *end || !(value >= 0 && value <= max)) {
		fprintf(stderr, "%s: '%s' is not a number from 0 to %.0f\n", argv[0], argv[i], max);
		exit(2);
	}
	return value;
}

static inline double seconds_argument(int argc, char **argv, int i, double fallback)
{
	return number_argument(argc, argv, i, fallback, 3600);
}

static inline long count_argument(int argc, char **argv, int i, long fallback)
{
	return (long)number_argument(argc, argv, i, (double)fallback, 1e9);
}

#endif
