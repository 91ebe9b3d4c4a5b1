/* SPDX-License-Identifier: GPL-2.0-only */
/* Splitting an amount in proportion to counts, in whole units whose sum is exactly the amount. */
#ifndef QUARTZ_CORE_APPORTION_H
#define QUARTZ_CORE_APPORTION_H

#include <stdint.h>

/*
 * An amount on its way to be split. Each part is what the parts so far should be, rounded down,
 * less what they are: the rounding never adds up, and the last part closes the sum. Products of two
 * 64-bit values fit.
 */
struct qz_split {
	uint64_t amount;
	unsigned __int128 total; /* of all counts */
	unsigned __int128 rest;	 /* carried from part to part, < total */
};

/* The part of the next count; the total must not be 0. */
static inline uint64_t qz_split__next(struct qz_split *s, uint64_t count)
{
	unsigned __int128 product = (unsigned __int128)s->amount * count;
	unsigned __int128 part = product / s->total;

	s->rest += product % s->total;
	if (s->rest >= s->total) {
		s->rest -= s->total;
		part++;
	}
	return (uint64_t)part;
}

#endif
