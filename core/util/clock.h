/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_CLOCK_H
#define QUARTZ_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of CLOCK_MONOTONIC. */
static inline uint64_t qz_clock__now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
