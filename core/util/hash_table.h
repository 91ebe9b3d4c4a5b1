/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table from keys to indices of an array that its user keeps. Open addressing.
 */
#ifndef QUARTZ_CORE_HASH_TABLE_H
#define QUARTZ_CORE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qz_slot;

/* All zero is an empty table. */
struct qz_hash_table {
	struct qz_slot *slots;
	uint32_t size; /* of slots: 0 or a power of two */
	uint32_t used;
};

/* Tells whether the element `index` of the array in `context` has this key. */
typedef bool qz_table_equal(const void *context, uint32_t index, const void *key);

/* A running hash; begin with any constant. */
uint32_t qz_hash_table__hash_number(uint32_t hash, uint64_t number);
uint32_t qz_hash_table__hash_string(uint32_t hash, const char *s);

/* The index that has this key, or UINT32_MAX. */
uint32_t qz_hash_table__find(const struct qz_hash_table *t, uint32_t hash, qz_table_equal *equal,
			     const void *context, const void *key);

/* Makes room, so that the next insertion cannot fail. 0 or -ENOMEM. */
int qz_hash_table__reserve(struct qz_hash_table *t);

/* Adds an index whose key is not in the table. There must be room. */
void qz_hash_table__insert(struct qz_hash_table *t, uint32_t hash, uint32_t index);

/*
 * Copies an item of this size behind the n of the array, which is moved when it must be, see vec.h, and adds its index;
 * its key is not in the table. Gives the index, or -errno with all as it was.
 */
int64_t qz_hash_table__append(struct qz_hash_table *t, uint32_t hash, void **array, uint32_t *n,
			      const void *item, size_t size);

/* Takes out an index that was added with this hash; nothing if there is none. */
void qz_hash_table__remove(struct qz_hash_table *t, uint32_t hash, uint32_t index);

/* Forgets all entries and keeps the room. */
void qz_hash_table__clear(struct qz_hash_table *t);

void qz_hash_table__free(struct qz_hash_table *t);

#endif
