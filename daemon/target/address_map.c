// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/target/address_map.h"

/* Of one image; a process with more has the rest unresolved. */
#define MAX_REGIONS 65536

void address_map__free(struct address_map *map)
{
	free(map->items);
	*map = (struct address_map) {0};
}

/* Index of the first region that ends after address. */
static uint32_t lower_bound(const struct address_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (map->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct region *address_map__find(const struct address_map *map, uint64_t address)
{
	uint32_t i = lower_bound(map, address);

	return i < map->n && map->items[i].start <= address ? &map->items[i] : NULL;
}

uint32_t address_map__before(const struct address_map *map, uint64_t address)
{
	uint32_t i = lower_bound(map, address);

	return i < map->n && map->items[i].start <= address ? i + 1 : i;
}

static int reserve(struct address_map *map, uint32_t more)
{
	uint32_t room = map->room ? map->room : 16;
	struct region *items;

	while (room < map->n + more)
		room *= 2;
	if (room == map->room)
		return 0;
	if (room > MAX_REGIONS)
		return -E2BIG;
	items = reallocarray(map->items, room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	map->items = items;
	map->room = room;
	return 0;
}

static void insert_at(struct address_map *map, uint32_t i, const struct region *region)
{
	memmove(&map->items[i + 1], &map->items[i], (map->n - i) * sizeof(*map->items));
	map->items[i] = *region;
	map->n++;
}

/* Cuts the region at i, which begins before `region`, at its start; a part after it stays. */
static void cut_first(struct address_map *map, uint32_t i, const struct region *region)
{
	struct region tail = map->items[i];

	map->items[i].end = region->start;
	if (tail.end <= region->end)
		return;
	tail.offset += region->end - tail.start;
	tail.start = region->end;
	insert_at(map, i + 1, &tail);
}

int address_map__map(struct address_map *map, const struct region *region)
{
	uint32_t first = lower_bound(map, region->start), last;
	int err = region->start < region->end ? reserve(map, 2) : -EINVAL;

	if (err)
		return err;
	if (first < map->n && map->items[first].start < region->start)
		cut_first(map, first++, region);
	for (last = first; last < map->n && map->items[last].end <= region->end; last++)
		;
	if (last < map->n && map->items[last].start < region->end) {
		map->items[last].offset += region->end - map->items[last].start;
		map->items[last].start = region->end;
	}
	memmove(&map->items[first], &map->items[last], (map->n - last) * sizeof(*map->items));
	map->n -= last - first;
	insert_at(map, first, region);
	return 0;
}

int address_map__copy(struct address_map *to, const struct address_map *from)
{
	int err = reserve(to, from->n);

	if (err)
		return err;
	if (from->n)
		memcpy(to->items, from->items, from->n * sizeof(*to->items));
	to->n = from->n;
	return 0;
}

static bool same_region(const struct region *a, const struct region *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->module == b->module;
}

bool address_map__equal(const struct address_map *a, const struct address_map *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!same_region(&a->items[i], &b->items[i]))
			return false;
	return true;
}
