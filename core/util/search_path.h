/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_SEARCH_PATH_H
#define QUARTZ_CORE_SEARCH_PATH_H

#include <limits.h>
#include <stdbool.h>

/* The file that execvp() would execute by this name, by PATH or as it is. False: PATH has none. */
bool qz_search_path__find(const char *name, char path[PATH_MAX]);

#endif
