/* SPDX-License-Identifier: GPL-2.0-only */
/* The index of an unwind table, see quartz/unwind.h. */
#ifndef QUARTZ_DAEMON_UNWIND_INDEX_H
#define QUARTZ_DAEMON_UNWIND_INDEX_H

#include <stdint.h>

#include <quartz/unwind.h>

/*
 * Puts an index before n rows that are sorted by pc: *rows, of malloc(3), is moved. The number of its blocks, each of
 * which takes the place of a row. 0, with the rows as they were: there are none, there is no memory, or so few rows in
 * so much code that the index would be larger than the table.
 */
uint32_t unwind_index__add(struct qz_unwind_row **rows, uint32_t n);

#endif
