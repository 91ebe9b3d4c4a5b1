/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a profile that are found by the members which they are equal in. */
#include <string.h>

#include "core/util/vec.h"
#include "core/model/profile_index.h"

static void **rows_of(struct qz_profile *p, const struct qz_rows *kind)
{
	return (void **)((char *)p + kind->rows);
}

static uint32_t *count_of(struct qz_profile *p, const struct qz_rows *kind)
{
	return (uint32_t *)((char *)p + kind->n);
}

static struct qz_hash_table *table_of(struct qz_profile *p, const struct qz_rows *kind)
{
	return (struct qz_hash_table *)((char *)p->index + kind->table);
}

static void *row_at(struct qz_profile *p, const struct qz_rows *kind, uint32_t i)
{
	return (char *)*rows_of(p, kind) + i * kind->size;
}

int64_t qz_rows__intern(struct qz_profile *p, const struct qz_rows *kind, const void *key)
{
	struct qz_hash_table *table = table_of(p, kind);
	uint32_t *n = count_of(p, kind), hash = kind->hash(key);
	int64_t i = qz_hash_table__find(table, hash, kind->equal, p, key);

	if (i != QZ_NONE)
		return i;
	i = qz_hash_table__append(table, hash, rows_of(p, kind), n, key, kind->size);
	for (uint32_t k = 0; i >= 0 && k < qz_fields__count(kind->figures); k++)
		*qz_fields__at(row_at(p, kind, (uint32_t)i), kind->figures, k) = 0;
	return i;
}

int qz_rows__add(struct qz_profile *p, const struct qz_rows *kind, const void *row)
{
	int64_t index = qz_rows__intern(p, kind, row);

	if (index < 0)
		return (int)index;
	qz_fields__add(row_at(p, kind, (uint32_t)index), row, kind->figures);
	return 0;
}

/* Puts a row at the end of those that are kept, or adds it to the one that it is equal to. */
static void keep(struct qz_profile *p, const struct qz_rows *kind, void *row, uint32_t *kept)
{
	struct qz_hash_table *table = table_of(p, kind);
	uint32_t hash = kind->hash(row);
	uint32_t found = qz_hash_table__find(table, hash, kind->equal, p, row);

	if (found == QZ_NONE) {
		memmove(row_at(p, kind, *kept), row, kind->size);
		qz_hash_table__insert(table, hash, (*kept)++);
		return;
	}
	qz_fields__add(row_at(p, kind, found), row, kind->figures);
	if (kind->release)
		kind->release(p, row);
}

void qz_rows__change(struct qz_profile *p, const struct qz_rows *kind,
		     bool (*change)(void *context, void *row), void *context)
{
	uint32_t *n = count_of(p, kind), all = *n, kept = 0;

	qz_hash_table__clear(table_of(p, kind));
	for (uint32_t i = 0; i < all; i++) {
		void *row = row_at(p, kind, i);

		if (change(context, row))
			keep(p, kind, row, &kept);
		else if (kind->release)
			kind->release(p, row);
	}
	*n = kept;
}

void qz_rows__shrink(struct qz_profile *p, const struct qz_rows *kind)
{
	if (*rows_of(p, kind))
		qz_array__shrink(rows_of(p, kind), QZ_NONE, *count_of(p, kind), kind->size);
}

/* ---- entities ---- */

static uint32_t *number_at(void *base, size_t offset)
{
	return (uint32_t *)((char *)base + offset);
}

static void *entity_at(struct qz_profile *p, const struct qz_entities *kind, uint32_t row)
{
	return *(char **)((char *)p + kind->rows) + row * kind->size;
}

static bool is_vacant(struct qz_profile *p, const struct qz_entities *kind, uint32_t row)
{
	return *((bool *)entity_at(p, kind, row) + kind->vacant);
}

int64_t qz_entities__room(struct qz_profile *p, const struct qz_entities *kind)
{
	uint32_t *first = number_at(p->index, kind->first), n = *number_at(p, kind->n);
	int err;

	if (*number_at(p, kind->nvacant)) {
		while (!is_vacant(p, kind, *first))
			++*first;
		return *first;
	}
	err = qz_array__reserve((void **)((char *)p + kind->rows), n, kind->size);
	return err ? err : (int64_t)n;
}

int64_t qz_entities__put(struct qz_profile *p, const struct qz_entities *kind, int64_t row,
			 const void *entity)
{
	uint32_t *n = number_at(p, kind->n);

	if (row < *n)
		--*number_at(p, kind->nvacant);
	else
		++*n;
	memcpy(entity_at(p, kind, (uint32_t)row), entity, kind->size);
	return row;
}

void qz_entities__vacate(struct qz_profile *p, const struct qz_entities *kind, uint32_t row)
{
	uint32_t *first = number_at(p->index, kind->first), *nvacant = number_at(p, kind->nvacant);

	*((bool *)entity_at(p, kind, row) + kind->vacant) = true;
	if (!(*nvacant)++ || row < *first)
		*first = row;
}
