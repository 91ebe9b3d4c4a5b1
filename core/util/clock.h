/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_CLOCK_H
#define QUARTZ_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of a clock. */
static inline uint64_t qz_clock__read(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ns and ms of CLOCK_MONOTONIC. */
static inline uint64_t qz_clock__now(void)
{
	return qz_clock__read(CLOCK_MONOTONIC);
}

static inline int64_t qz_clock__now_ms(void)
{
	return (int64_t)(qz_clock__now() / 1000000);
}

#endif
