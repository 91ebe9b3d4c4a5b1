/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of strings, numbered in the order in which they were added.
 */
#ifndef QUARTZ_CORE_STRINGS_H
#define QUARTZ_CORE_STRINGS_H

#include <stdint.h>

#include "core/table.h"

/* All zero is an empty set. */
struct qz_strings {
	struct qz_table table;
	char **all;
	uint32_t n;
};

/* The number of s, of which a copy is added when there is none. -ENOMEM, -E2BIG. */
int64_t qz_strings__intern(struct qz_strings *set, const char *s);

void qz_strings__free(struct qz_strings *set);

#endif
