/* SPDX-License-Identifier: GPL-2.0-only */
/* Level times that are known of a part of the time only, completed by what is known of all of it. */
#ifndef QUARTZ_CORE_LEVELS_H
#define QUARTZ_CORE_LEVELS_H

#include <stdint.h>

/* The time at n levels. */
static inline uint64_t qz_levels__sum(const uint64_t *ns, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += ns[i];
	return sum;
}

/* The processor time that they stand for. */
static inline uint64_t qz_levels__cpu(const uint64_t *ns, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < n; i++)
		sum += i * ns[i];
	return sum;
}

/* Times are ns; of n levels, the index is the number of running threads. */
struct qz_levels {
	uint64_t *ns;		/* so far; what was not counted is added */
	const uint64_t *before; /* likewise, at the last completion */
	double *counted; /* processor time by level that was counted lately; kept for the next completion */
	uint32_t n;	     /* at least 2; no more run at once */
	uint64_t elapsed_ns; /* that they are to add up to */
	uint64_t missing_ns; /* processor time that no level stands for */
};

/*
 * Divides the missing processor time among the levels, in proportion to what was counted lately, and gives the rest of the
 * time to level 0. Where that would take more time than there is, more threads ran at once than were counted: times move
 * to higher levels. *add gets what was added to each level, n entries. The sum is exact.
 */
void qz_levels__complete(const struct qz_levels *levels, uint64_t *add);

#endif
