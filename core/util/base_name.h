/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_BASE_NAME_H
#define QUARTZ_CORE_BASE_NAME_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* What follows the last '/' of a path, all of it where there is none: a part of it, not a copy. */
static inline const char *qz_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether it is a file of this name, of any version: "libnode.so.108" is "libnode.so", and "node_exporter" is no "node". */
static inline bool qz_base_name__is(const char *path, const char *name)
{
	const char *base = qz_base_name(path);
	size_t length = strlen(name);

	return !strncmp(base, name, length) && !isalpha((unsigned char)base[length]) &&
	       base[length] != '_';
}

#endif
