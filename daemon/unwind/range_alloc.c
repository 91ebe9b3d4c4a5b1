// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/unwind/range_alloc.h"

int range_alloc__init(struct range_alloc *a, uint32_t size, uint64_t grace)
{
	*a = (struct range_alloc) {.grace = grace};
	return range_alloc__give(a, 0, size, 0);
}

void range_alloc__free(struct range_alloc *a)
{
	free(a->ranges);
	a->ranges = NULL;
	a->n = 0;
}

static bool is_ready(const struct range_alloc *a, const struct range_alloc_range *r, uint64_t now)
{
	return !r->free_since || now - r->free_since >= a->grace;
}

static void remove_at(struct range_alloc *a, uint32_t i)
{
	memmove(&a->ranges[i], &a->ranges[i + 1], (a->n - i - 1) * sizeof(*a->ranges));
	a->n--;
}

/* Ranges whose grace is over have no time any more, and grow together. */
static void settle(struct range_alloc *a, uint64_t now)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (is_ready(a, &a->ranges[i], now))
			a->ranges[i].free_since = 0;
	for (uint32_t i = 0; i + 1 < a->n;) {
		struct range_alloc_range *r = &a->ranges[i];

		if (r->free_since || r[1].free_since || r->first + r->count != r[1].first) {
			i++;
			continue;
		}
		r->count += r[1].count;
		remove_at(a, i + 1);
	}
}

uint32_t range_alloc__take(struct range_alloc *a, uint32_t count, uint64_t now)
{
	settle(a, now);
	for (uint32_t i = 0; count && i < a->n; i++) {
		struct range_alloc_range *r = &a->ranges[i];
		uint32_t first = r->first;

		if (r->free_since || r->count < count)
			continue;
		r->first += count;
		r->count -= count;
		if (!r->count)
			remove_at(a, i);
		return first;
	}
	return UINT32_MAX;
}

int range_alloc__give(struct range_alloc *a, uint32_t first, uint32_t count, uint64_t now)
{
	uint32_t i = 0;

	if (!count)
		return 0;
	if (qz_array__reserve((void **)&a->ranges, a->n, sizeof(*a->ranges)))
		return -ENOMEM;
	while (i < a->n && a->ranges[i].first < first)
		i++;
	memmove(&a->ranges[i + 1], &a->ranges[i], (a->n - i) * sizeof(*a->ranges));
	a->ranges[i] = (struct range_alloc_range) {first, count, now};
	a->n++;
	return 0;
}
