/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing arrays. They double whenever they hold a power of two of elements, so that a capacity
 * need not be kept beside the number of elements.
 */
#ifndef QUARTZ_CORE_VEC_H
#define QUARTZ_CORE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define QZ_MAX_ENTITIES (1u << 30)

/*
 * Makes room for one more after n elements of this size; *array is moved when it must be. 0, -ENOMEM or -E2BIG; then the
 * array is as it was. Start with *array NULL, n 0.
 */
static inline int qz_array__reserve(void **array, uint32_t n, size_t size)
{
	void *room;

	if (n & (n - 1))
		return 0;
	if (n >= QZ_MAX_ENTITIES)
		return -E2BIG;
	room = realloc(*array, (n ? 2 * (size_t)n : 1) * size);
	if (!room)
		return -ENOMEM;
	*array = room;
	return 0;
}

/*
 * To be called after elements were removed, so that `kept` of n are left at the front: frees the memory that is not needed.
 * Returns kept.
 */
static inline uint32_t qz_array__shrink(void **array, uint32_t n, uint32_t kept, size_t size)
{
	size_t room = 1;
	void *less;

	if (kept == n)
		return kept;
	while (room < kept)
		room *= 2;
	less = realloc(*array, room * size);
	if (less)
		*array = less;
	return kept;
}

#endif
