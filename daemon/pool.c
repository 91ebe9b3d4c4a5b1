// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "daemon/pool.h"

int pool__init(struct pool *p, uint32_t size, uint64_t grace)
{
	*p = (struct pool) {.grace = grace};
	return pool__give(p, 0, size, 0);
}

void pool__free(struct pool *p)
{
	free(p->ranges);
	p->ranges = NULL;
	p->n = 0;
}

static bool is_ready(const struct pool *p, const struct pool_range *r, uint64_t now)
{
	return !r->free_since || now - r->free_since >= p->grace;
}

static void remove_at(struct pool *p, uint32_t i)
{
	memmove(&p->ranges[i], &p->ranges[i + 1], (p->n - i - 1) * sizeof(*p->ranges));
	p->n--;
}

/* Ranges whose grace is over have no time any more, and grow together. */
static void settle(struct pool *p, uint64_t now)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (is_ready(p, &p->ranges[i], now))
			p->ranges[i].free_since = 0;
	for (uint32_t i = 0; i + 1 < p->n;) {
		struct pool_range *r = &p->ranges[i];

		if (r->free_since || r[1].free_since || r->first + r->count != r[1].first) {
			i++;
			continue;
		}
		r->count += r[1].count;
		remove_at(p, i + 1);
	}
}

uint32_t pool__take(struct pool *p, uint32_t count, uint64_t now)
{
	settle(p, now);
	for (uint32_t i = 0; count && i < p->n; i++) {
		struct pool_range *r = &p->ranges[i];
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

int pool__give(struct pool *p, uint32_t first, uint32_t count, uint64_t now)
{
	struct pool_range *more;
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
	p->ranges[i] = (struct pool_range) {first, count, now};
	p->n++;
	return 0;
}
