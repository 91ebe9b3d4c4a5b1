/* SPDX-License-Identifier: GPL-2.0-only */
/* Which addresses of an image hold code of which module. Pure. */
#ifndef QUARTZ_DAEMON_ADDRESS_MAP_H
#define QUARTZ_DAEMON_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* A range of addresses that holds code of a module. */
struct region {
	uint64_t start, end, offset; /* offset: in the file, of start */
	uint32_t module;	     /* MODULE_NONE: code of no known kind */
	bool read; /* by the mappings of a process, not reported: it is not known since when it is there */
};

/* Sorted by start, without overlap. All zero is empty. */
struct address_map {
	struct region *items;
	uint32_t n, room;
};

void address_map__free(struct address_map *map);

/* The region that holds an address, or NULL. */
const struct region *address_map__find(const struct address_map *map, uint64_t address);

/* The number of regions that begin at or before an address. */
uint32_t address_map__before(const struct address_map *map, uint64_t address);

/*
 * Maps a region: what it covers of others is gone, those at its ends are cut. 0, -EINVAL when it is
 * empty, -E2BIG, or -ENOMEM.
 */
int address_map__map(struct address_map *map, const struct region *region);

bool address_map__equal(const struct address_map *a, const struct address_map *b);

/* Makes `to`, which must be empty, a copy. 0 or -ENOMEM. */
int address_map__copy(struct address_map *to, const struct address_map *from);

#endif
