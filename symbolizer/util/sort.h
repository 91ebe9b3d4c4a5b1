/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorts by numbers, such as addresses: hundreds of thousands of them in a large file, in a few passes. */
#ifndef QUARTZ_SYMBOLIZER_SORT_H
#define QUARTZ_SYMBOLIZER_SORT_H

#include <stddef.h>

/*
 * Sorts n items of `size` bytes, each of which begins with the uint64_t that it is sorted by; equal ones keep their
 * order. 0, or -ENOMEM: they are as they were.
 */
int sort__by_number(void *items, size_t n, size_t size);

#endif
