/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/string_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"

static bool string_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_string_table *set = context;

	return !strcmp(set->all[index], key);
}

int64_t qz_string_table__intern(struct qz_string_table *set, const char *s)
{
	uint32_t hash = qz_hash_table__hash_string(0, s);
	uint32_t found = qz_hash_table__find(&set->table, hash, string_equal, set, s);
	char **all, *copy;

	if (found != UINT32_MAX)
		return found;
	if (qz_hash_table__reserve(&set->table))
		return -ENOMEM;
	all = qz_array__room(set->all, set->n, sizeof(*all));
	if (!all)
		return -errno;
	set->all = all;
	copy = strdup(s);
	if (!copy)
		return -ENOMEM;
	all[set->n] = copy;
	qz_hash_table__insert(&set->table, hash, set->n);
	return set->n++;
}

void qz_string_table__free(struct qz_string_table *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		free(set->all[i]);
	free(set->all);
	qz_hash_table__free(&set->table);
	*set = (struct qz_string_table) {0};
}
