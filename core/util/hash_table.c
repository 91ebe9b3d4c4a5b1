/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/hash_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"

#define FIRST_SIZE 16

struct qz_slot {
	uint32_t hash;
	uint32_t entry; /* index + 1; 0: empty */
};

uint32_t qz_hash_table__hash_number(uint32_t hash, uint64_t number)
{
	uint64_t h = (hash ^ number) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h ^ h >> 32);
}

/* FNV-1a, 64 bits wide inside. */
uint32_t qz_hash_table__hash_string(uint32_t hash, const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return qz_hash_table__hash_number(hash, h);
}

uint32_t qz_hash_table__find(const struct qz_hash_table *t, uint32_t hash, qz_table_equal *equal,
			     const void *context, const void *key)
{
	if (t->size == 0)
		return UINT32_MAX;
	for (uint32_t i = hash & (t->size - 1); t->slots[i].entry; i = (i + 1) & (t->size - 1)) {
		const struct qz_slot *slot = &t->slots[i];

		if (slot->hash == hash && equal(context, slot->entry - 1, key))
			return slot->entry - 1;
	}
	return UINT32_MAX;
}

static void put(struct qz_hash_table *t, struct qz_slot slot)
{
	uint32_t i = slot.hash & (t->size - 1);

	while (t->slots[i].entry)
		i = (i + 1) & (t->size - 1);
	t->slots[i] = slot;
}

int qz_hash_table__reserve(struct qz_hash_table *t)
{
	struct qz_hash_table grown = {.used = t->used, .size = t->size ? 2 * t->size : FIRST_SIZE};

	if (t->used + 1 <= t->size / 2)
		return 0;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->size; i++)
		if (t->slots[i].entry)
			put(&grown, t->slots[i]);
	free(t->slots);
	*t = grown;
	return 0;
}

void qz_hash_table__insert(struct qz_hash_table *t, uint32_t hash, uint32_t index)
{
	put(t, (struct qz_slot) {.hash = hash, .entry = index + 1});
	t->used++;
}

int64_t qz_hash_table__append(struct qz_hash_table *t, uint32_t hash, void **array, uint32_t *n,
			      const void *item, size_t size)
{
	int err = qz_hash_table__reserve(t);

	err = err ?: qz_array__reserve(array, *n, size);
	if (err)
		return err;
	memcpy((char *)*array + *n * size, item, size);
	qz_hash_table__insert(t, hash, *n);
	return (*n)++;
}

/* ---- items that begin with their keys ---- */

/* Keys are short: a call of memcmp() would take longer than the rest of a look-up. */
static bool are_equal(const char *a, const char *b, size_t n)
{
	for (; n >= sizeof(uint32_t); a += sizeof(uint32_t), b += sizeof(uint32_t)) {
		uint32_t x, y;

		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		if (x != y)
			return false;
		n -= sizeof(x);
	}
	while (n && *a == *b)
		a++, b++, n--;
	return !n;
}

uint32_t qz_hash_table__find_key(const struct qz_hash_table *t, uint32_t hash, const void *array,
				 size_t size, const void *key, size_t nkey)
{
	uint32_t mask = t->size - 1;

	for (uint32_t i = hash & mask; t->size && t->slots[i].entry; i = (i + 1) & mask) {
		uint32_t index = t->slots[i].entry - 1;

		if (t->slots[i].hash == hash &&
		    are_equal((const char *)array + index * size, key, nkey))
			return index;
	}
	return UINT32_MAX;
}

int64_t qz_hash_table__intern(struct qz_hash_table *t, uint32_t hash, void **array, uint32_t *n,
			      const void *item, size_t size, size_t nkey)
{
	uint32_t found = qz_hash_table__find_key(t, hash, *array, size, item, nkey);

	return found != UINT32_MAX ? found : qz_hash_table__append(t, hash, array, n, item, size);
}

/* ---- taking out ---- */

/* Entries after the gap move up, unless the gap is before the place where their search begins. */
void qz_hash_table__remove(struct qz_hash_table *t, uint32_t hash, uint32_t index)
{
	uint32_t mask = t->size - 1, gap = hash & mask;

	if (t->size == 0)
		return;
	while (t->slots[gap].entry && t->slots[gap].entry != index + 1)
		gap = (gap + 1) & mask;
	if (!t->slots[gap].entry)
		return;
	for (uint32_t i = (gap + 1) & mask; t->slots[i].entry; i = (i + 1) & mask) {
		if (((i - t->slots[i].hash) & mask) < ((i - gap) & mask))
			continue;
		t->slots[gap] = t->slots[i];
		gap = i;
	}
	t->slots[gap].entry = 0;
	t->used--;
}

void qz_hash_table__clear(struct qz_hash_table *t)
{
	if (t->size)
		memset(t->slots, 0, t->size * sizeof(*t->slots));
	t->used = 0;
}

void qz_hash_table__free(struct qz_hash_table *t)
{
	free(t->slots);
	*t = (struct qz_hash_table) {0};
}
