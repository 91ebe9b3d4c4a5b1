/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

static bool string_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_strings *set = context;

	return !strcmp(set->all[index], key);
}

int64_t qz_strings__intern(struct qz_strings *set, const char *s)
{
	uint32_t hash = qz_hash__string(0, s);
	uint32_t found = qz_table__find(&set->table, hash, string_equal, set, s);
	char **all, *copy;

	if (found != UINT32_MAX)
		return found;
	if (qz_table__reserve(&set->table))
		return -ENOMEM;
	all = qz_array__room(set->all, set->n, sizeof(*all));
	if (!all)
		return -errno;
	set->all = all;
	copy = strdup(s);
	if (!copy)
		return -ENOMEM;
	all[set->n] = copy;
	qz_table__insert(&set->table, hash, set->n);
	return set->n++;
}

void qz_strings__free(struct qz_strings *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		free(set->all[i]);
	free(set->all);
	qz_table__free(&set->table);
	*set = (struct qz_strings) {0};
}
