// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/target/past.h"

/* A power of two. Of a program that maps a library every ten milliseconds, what it had for some seconds. */
#define PAST_MAX 256

void past__free(struct past *past)
{
	free(past->items);
	*past = (struct past) {0};
}

void past__forget(struct past *past, uint64_t start, uint64_t end, uint64_t time)
{
	if (!past->unknown_until || start < past->unknown_start)
		past->unknown_start = start;
	if (end > past->unknown_end)
		past->unknown_end = end;
	if (time > past->unknown_until)
		past->unknown_until = time;
}

/* The older half. */
static void drop(struct past *past)
{
	uint32_t n = past->n / 2;

	for (uint32_t i = 0; i < n; i++)
		past__forget(past, past->items[i].region.start, past->items[i].region.end,
			     past->items[i].until);
	past->n -= n;
	memmove(past->items, &past->items[n], past->n * sizeof(*past->items));
}

void past__add(struct past *past, const struct region *region, uint64_t time)
{
	if (past->n == PAST_MAX)
		drop(past);
	if (qz_array__reserve((void **)&past->items, past->n, sizeof(*past->items)))
		past__forget(past, region->start, region->end, time);
	else
		past->items[past->n++] = (struct past_region) {*region, time};
}

const struct region *past__find(const struct past *past, uint64_t address, uint64_t time)
{
	const struct past_region *found = NULL;

	for (uint32_t i = 0; i < past->n; i++) {
		const struct past_region *p = &past->items[i];

		if (p->until > time && address >= p->region.start && address < p->region.end &&
		    (!found || p->until < found->until))
			found = p;
	}
	return found ? &found->region : NULL;
}

bool past__is_unknown(const struct past *past, uint64_t address, uint64_t time)
{
	return time < past->unknown_until && address >= past->unknown_start &&
	       address < past->unknown_end;
}
