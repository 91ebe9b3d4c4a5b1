/* SPDX-License-Identifier: GPL-2.0-only */
/* The size of a directory of files that can be made again. */
#ifndef QUARTZ_DAEMON_CACHE_DIRECTORY_H
#define QUARTZ_DAEMON_CACHE_DIRECTORY_H

#include <stdint.h>

/*
 * Removes the files with the oldest times of change, until those that are left take no more than `most` bytes of the
 * disk; and what was begun an hour ago by save_file.h and never completed. The descriptor stays the caller's.
 */
void cache_directory__trim(int dir, uint64_t most);

#endif
