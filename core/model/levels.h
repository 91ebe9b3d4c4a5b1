/* SPDX-License-Identifier: GPL-2.0-only */
/* Times at levels of parallelism, in ns: the index is the number of running threads. */
#ifndef QUARTZ_CORE_LEVELS_H
#define QUARTZ_CORE_LEVELS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for a level; new levels have no time. 0, or -ENOMEM with nothing changed. */
static inline int qz_levels__reach(uint64_t **ns, uint32_t *n, uint32_t level)
{
	uint64_t *more;

	if (level < *n)
		return 0;
	more = reallocarray(*ns, (size_t)level + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(&more[*n], 0, ((size_t)level + 1 - *n) * sizeof(*more));
	*ns = more;
	*n = level + 1;
	return 0;
}

/* The time at n levels. */
static inline uint64_t qz_levels__sum(const uint64_t *ns, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += ns[i];
	return sum;
}

/* The processor time of these levels: sum of level times time. */
static inline uint64_t qz_levels__cpu(const uint64_t *ns, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < n; i++)
		sum += i * ns[i];
	return sum;
}

#endif
