/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Perf maps: the text files /tmp/perf-PID.map in which a just-in-time compiler lists its
 * procedures, one "START SIZE NAME" per line, both numbers hexadecimal.
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
 * Reads the file from its beginning. Memory is reused while the program runs, so a later line wins
 * where lines overlap. Lines of another form are left out; -ENOEXEC when no line is good. -EFBIG,
 * -ENOMEM, or of read(2). Does not close fd. The caller calls perf_map__free, also on failure.
 */
int perf_map__read(struct perf_map *map, int fd);
void perf_map__free(struct perf_map *map);

#endif
