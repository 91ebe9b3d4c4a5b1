/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_SUFFIX_H
#define QUARTZ_CORE_SUFFIX_H

#include <stdbool.h>
#include <string.h>

/* Whether the text ends with that. */
static inline bool qz_suffix__is(const char *text, const char *suffix)
{
	size_t length = strlen(text), n = strlen(suffix);

	return length >= n && !strcmp(text + length - n, suffix);
}

#endif
