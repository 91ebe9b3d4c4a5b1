/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_BASE_NAME_H
#define QUARTZ_CORE_BASE_NAME_H

#include <string.h>

/* What follows the last '/' of a path, all of it where there is none: a part of it, not a copy. */
static inline const char *qz_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
