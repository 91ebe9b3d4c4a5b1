// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/unwind/range_alloc.h"

int range_alloc__init(struct range_alloc *p, uint32_t size, uint64_t grace)
{
	*p = (struct range_alloc) {.grace = grace};
	return range_alloc__give(p, 0, size, 0);
}

void range_alloc__free(struct range_alloc *p)
{
	free(p->ranges);
	p->ranges = NULL;
	p->n = 0;
}

static bool is_ready(const struct range_alloc *p, const struct range_alloc_range *r, uint64_t now)
{
	return !r->free_since || now - r->free_since >= p->grace;
}

static void remove_at(struct range_alloc *p, uint32_t i)
{
	memmove(&p->ranges[i], &p->ranges[i + 1], (p->n - i - 1) * sizeof(*p->ranges));
	p->n--;
}

/* Ranges whose grace is over have no time any more, and grow together. */
static void settle(struct range_alloc *p, uint64_t now)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (is_ready(p, &p->ranges[i], now))
			p->ranges[i].free_since = 0;
	for (uint32_t i = 0; i + 1 < p->n;) {
		struct range_alloc_range *r = &p->ranges[i];

		if (r->free_since || r[1].free_since || r->first + r->count != r[1].first) {
			i++;
			continue;
		}
		r->count += r[1].count;
		remove_at(p, i + 1);
	}
}

uint32_t range_alloc__take(struct range_alloc *p, uint32_t count, uint64_t now)
{
	settle(p, now);
	for (uint32_t i = 0; count && i < p->n; i++) {
		struct range_alloc_range *r = &p->ranges[i];
		uint32_t first = r->first;

		if (r->free_since || r->count < count)
			continue;
		r->first += count;
		r->count -= count;
		if (!r->count)
			remove_at(p, i);
		return first;
	}
	return UINT32_MAX;
}

int range_alloc__give(struct range_alloc *p, uint32_t first, uint32_t count, uint64_t now)
{
	struct range_alloc_range *more;
	uint32_t i = 0;

	if (!count)
		return 0;
	more = qz_array__room(p->ranges, p->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->ranges = more;
	while (i < p->n && p->ranges[i].first < first)
		i++;
	memmove(&p->ranges[i + 1], &p->ranges[i], (p->n - i) * sizeof(*p->ranges));
	p->ranges[i] = (struct range_alloc_range) {first, count, now};
	p->n++;
	return 0;
}
