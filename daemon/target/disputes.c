// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "core/util/vec.h"
#include "daemon/target/disputes.h"

/* Of one image; beyond, all places are one. */
#define DISPUTES_MAX 64

void disputes__free(struct disputes *d)
{
	free(d->items);
	*d = (struct disputes) {0};
}

/* The first from index i on that has any of the addresses, or n. */
static uint32_t find(const struct disputes *d, uint32_t i, uint64_t start, uint64_t end)
{
	while (i < d->n && (d->items[i].end <= start || d->items[i].start >= end))
		i++;
	return i;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Makes the range of the i-th one wider; others that it covers then become part of it. */
static void widen(struct disputes *d, uint32_t i, uint64_t start, uint64_t end)
{
	struct dispute *to = &d->items[i];

	to->start = start < to->start ? start : to->start;
	to->end = later(to->end, end);
	for (uint32_t k = i + 1; (k = find(d, k, to->start, to->end)) < d->n;) {
		struct dispute part = d->items[k];

		d->items[k] = d->items[--d->n];
		to->start = part.start < to->start ? part.start : to->start;
		to->end = later(to->end, part.end);
		to->replaced = later(part.replaced, to->replaced);
		to->settled = part.settled && to->settled ? later(part.settled, to->settled) : 0;
		to->earlier = later(part.earlier, to->earlier);
		to->unnamed = later(part.unnamed, to->unnamed);
		k = i + 1;
	}
}

/* All places of an image have the same tables. */
static uint64_t stale_until(const struct disputes *d)
{
	uint64_t until = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		if (!d->items[i].settled)
			return UINT64_MAX;
		until = later(until, d->items[i].settled);
	}
	return until;
}

int disputes__replaced(struct disputes *d, uint64_t start, uint64_t end, uint64_t time)
{
	uint64_t earlier = stale_until(d);
	uint32_t i = find(d, 0, start, end);

	if (i == d->n && d->n == DISPUTES_MAX) {
		i = 0;
		start = 0;
		end = UINT64_MAX;
	}
	if (i == d->n) {
		if (qz_array__reserve((void **)&d->items, d->n, sizeof(*d->items)))
			return -ENOMEM;
		d->items[d->n++] = (struct dispute) {.start = start, .end = end};
	}
	widen(d, i, start, end);
	d->items[i].replaced = time;
	d->items[i].earlier = earlier;
	d->items[i].settled = 0;
	return 0;
}

void disputes__settle(struct disputes *d, uint64_t now)
{
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->items[i].settled)
			continue;
		d->items[i].settled = now;
		if (d->items[i].earlier == UINT64_MAX)
			d->items[i].earlier = now;
	}
}

void disputes__unnamed(struct disputes *d, uint64_t start, uint64_t end, uint64_t now)
{
	for (uint32_t i = 0; (i = find(d, i, start, end)) < d->n; i++)
		d->items[i].unnamed = now;
}

bool disputes__has(const struct disputes *d, uint64_t address, enum dispute_tables tables,
		   uint64_t began)
{
	uint32_t i = address < UINT64_MAX ? find(d, 0, address, address + 1) : d->n;

	return i < d->n && (began < d->items[i].unnamed ||
			    (tables == TABLES_STALE && began < d->items[i].earlier) ||
			    (tables == TABLES_LACKING && began < d->items[i].replaced));
}
