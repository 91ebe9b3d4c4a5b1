/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Perf maps: the text files /tmp/perf-PID.map in which a just-in-time compiler lists its
 * procedures, a line "START SIZE NAME" for each; both numbers are hexadecimal.
 */
#ifndef QUARTZ_SYMBOLIZER_PERF_MAP_H
#define QUARTZ_SYMBOLIZER_PERF_MAP_H

#include "symbolizer/util/address_table.h"

#define PERF_MAP_MAX_SIZE (128U << 20)

struct perf_map {
	struct address_table *table;
	char *text; /* the names */
};

/*
 * Reads the whole file. Memory is reused while the program runs, so a later line wins where lines
 * overlap. Malformed lines are left out. 0; -ENOEXEC: no line is good; -EFBIG, -ENOMEM, or an error
 * of read(2). Does not close fd. The caller calls perf_map__free(), also on failure.
 */
int perf_map__read(struct perf_map *map, int fd);
void perf_map__free(struct perf_map *map);

#endif
