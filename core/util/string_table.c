/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/string_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool string_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_string_table *set = context;

	return !strcmp(set->all[index], key);
}

int64_t qz_string_table__intern(struct qz_string_table *set, const char *s)
{
	uint32_t hash = qz_hash_table__hash_string(0, s);
	uint32_t found = qz_hash_table__find(&set->table, hash, string_equal, set, s);
	int64_t index;
	char *copy;

	if (found != UINT32_MAX)
		return found;
	copy = strdup(s);
	if (!copy)
		return -ENOMEM;
	index = qz_hash_table__append(&set->table, hash, (void **)&set->all, &set->n, &copy,
				      sizeof(copy));
	if (index < 0)
		free(copy);
	return index;
}

void qz_string_table__free(struct qz_string_table *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		free(set->all[i]);
	free(set->all);
	qz_hash_table__free(&set->table);
	*set = (struct qz_string_table) {0};
}
