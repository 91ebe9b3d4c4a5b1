/* SPDX-License-Identifier: GPL-2.0-only */
/* Which addresses of an image hold code of which module. Pure. */
#ifndef QUARTZ_DAEMON_REGIONS_H
#define QUARTZ_DAEMON_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A range of addresses that holds code of a module. */
struct region {
	uint64_t start, end, offset; /* offset: in the file, of start */
	uint32_t module;	     /* MODULE_NONE: code of no known kind */
};

/* Sorted by start, without overlap. All zero is empty. */
struct regions {
	struct region *items;
	uint32_t n, room;
};

void regions__free(struct regions *r);

/* The region that holds an address, or NULL. */
const struct region *regions__find(const struct regions *r, uint64_t address);

/* The number of regions that begin at or before an address. */
uint32_t regions__before(const struct regions *r, uint64_t address);

/*
 * Maps a region: what it covers of others is gone, those at its ends are cut. 0, -EINVAL when it is
 * empty, -E2BIG, or -ENOMEM.
 */
int regions__map(struct regions *r, const struct region *region);

bool regions__equal(const struct regions *a, const struct regions *b);

/* Makes `to`, which must be empty, a copy. 0 or -ENOMEM. */
int regions__copy(struct regions *to, const struct regions *from);

#endif
