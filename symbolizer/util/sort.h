/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorts by number in a few passes, for the hundreds of thousands of addresses of a large file. */
#ifndef QUARTZ_SYMBOLIZER_SORT_H
#define QUARTZ_SYMBOLIZER_SORT_H

#include <stddef.h>

/*
 * Sorts n items of `size` bytes by the uint64_t that each begins with; the sort is stable. 0, or
 * -ENOMEM: nothing has changed.
 */
int sort__by_number(void *items, size_t n, size_t size);

#endif
