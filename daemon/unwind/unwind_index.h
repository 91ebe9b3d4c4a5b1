/* SPDX-License-Identifier: GPL-2.0-only */
/* The index of an unwind table, see quartz/unwind.h. */
#ifndef QUARTZ_DAEMON_UNWIND_INDEX_H
#define QUARTZ_DAEMON_UNWIND_INDEX_H

#include <stdint.h>

#include <quartz/unwind.h>

/*
 * The blocks of n rows, sorted by pc, from that of the first row on; *index is the caller's, to be freed.
 * The number of blocks; 0, with NULL: no rows, no memory, or so few rows in so much code that the index
 * would be larger than the table.
 */
uint32_t unwind_index__new(const struct qz_unwind_row *rows, uint32_t n,
			   struct qz_unwind_block **index);

#endif
