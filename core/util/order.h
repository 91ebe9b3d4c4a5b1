/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_ORDER_H
#define QUARTZ_CORE_ORDER_H

#include <stdint.h>

/*
 * For comparison functions of qsort(3): below 0, 0 or above 0, as a is less than, equal to or more than b. Several keys
 * are several of these with ?: between them; descending order is b before a.
 */
static inline int qz_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline uint64_t qz_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
