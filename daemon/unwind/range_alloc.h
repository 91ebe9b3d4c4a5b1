/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of an array that others read while it changes: a freed range is not taken again before a grace period has passed,
 * in which all readers finish.
 */
#ifndef QUARTZ_DAEMON_RANGE_ALLOC_H
#define QUARTZ_DAEMON_RANGE_ALLOC_H

#include <stdint.h>

struct range_alloc_range {
	uint32_t first, count;
	uint64_t free_since;
};

struct range_alloc {
	struct range_alloc_range
		*ranges; /* free ones, sorted by first, never adjacent with equal times */
	uint32_t n;
	uint64_t grace; /* in the unit of `now` below */
};

/* A pool of `size` elements, all free at once. 0 or -ENOMEM. */
int range_alloc__init(struct range_alloc *a, uint32_t size, uint64_t grace);
void range_alloc__free(struct range_alloc *a);

/* The first of `count` adjacent elements, or UINT32_MAX when there are none or count is 0. */
uint32_t range_alloc__take(struct range_alloc *a, uint32_t count, uint64_t now);

/* Gives a range back. 0, or -ENOMEM: then it is lost to the pool. */
int range_alloc__give(struct range_alloc *a, uint32_t first, uint32_t count, uint64_t now);

#endif
