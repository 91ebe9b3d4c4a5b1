/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of strings, numbered in the order in which they were added.
 */
#ifndef QUARTZ_CORE_STRING_TABLE_H
#define QUARTZ_CORE_STRING_TABLE_H

#include <stdint.h>

#include "core/util/hash_table.h"

/* All zero is an empty set. */
struct qz_string_table {
	struct qz_hash_table table;
	char **all;
	uint32_t n;
};

/* The number of s, of which a copy is added when there is none. -ENOMEM, -E2BIG. */
int64_t qz_string_table__intern(struct qz_string_table *set, const char *s);

void qz_string_table__free(struct qz_string_table *set);

#endif
