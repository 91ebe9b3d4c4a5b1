/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash table from keys to indices of an array that its user keeps. Open addressing.
 */
#ifndef QUARTZ_CORE_HASH_TABLE_H
#define QUARTZ_CORE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
 * Copies an item of this size after the n of the array, which is moved when it must be, see vec.h, and adds its index;
 * its key is not in the table. Returns the index, or -errno with all as it was.
 */
int64_t qz_hash_table__append(struct qz_hash_table *t, uint32_t hash, void **array, uint32_t *n,
			      const void *item, size_t size);

/* A hash of bytes: inline, since it is a call or two where their number is known. */
static inline uint32_t qz_hash_table__hash_key(const void *key, size_t nkey)
{
	const char *at = key;
	uint64_t word = 0;
	uint32_t hash = 1;

	for (; nkey >= sizeof(word); at += sizeof(word), nkey -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = qz_hash_table__hash_number(hash, word);
	}
	word = 0;
	memcpy(&word, at, nkey);
	return nkey ? qz_hash_table__hash_number(hash, word) : hash;
}

/*
 * Of items that their first bytes tell apart, which are this many and have no padding between them: the index of the one
 * that has the key, UINT32_MAX if none has; and the same, or the index of a copy that is appended, or -errno. The hash is that above.
 */
uint32_t qz_hash_table__find_key(const struct qz_hash_table *t, uint32_t hash, const void *array,
				 size_t size, const void *key, size_t nkey);
int64_t qz_hash_table__intern(struct qz_hash_table *t, uint32_t hash, void **array, uint32_t *n,
			      const void *item, size_t size, size_t nkey);

/* The same for a pointer to an item, and the last member of its key. */
#define QZ_KEY_SIZE(item, last)                                                                    \
	(offsetof(__typeof__(*(item)), last) + sizeof(((__typeof__(item))NULL)->last))
#define QZ_HASH(item, last) qz_hash_table__hash_key(item, QZ_KEY_SIZE(item, last))
#define QZ_FIND(t, array, item, last)                                                              \
	qz_hash_table__find_key(t, QZ_HASH(item, last), array, sizeof(*(item)), item,              \
				QZ_KEY_SIZE(item, last))
#define QZ_INTERN(t, array, n, item, last)                                                         \
	qz_hash_table__intern(t, QZ_HASH(item, last), (void **)(array), n, item, sizeof(*(item)),  \
			      QZ_KEY_SIZE(item, last))

/* Takes out an index that was added with this hash; nothing if there is none. */
void qz_hash_table__remove(struct qz_hash_table *t, uint32_t hash, uint32_t index);

/* Forgets all entries and keeps the room. */
void qz_hash_table__clear(struct qz_hash_table *t);

void qz_hash_table__free(struct qz_hash_table *t);

#endif
