/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that fill a profile share. No other file includes it. */
#ifndef QUARTZ_CORE_PROFILE_INDEX_H
#define QUARTZ_CORE_PROFILE_INDEX_H

#include "core/model/fields.h"
#include "core/model/profile.h"
#include "core/util/hash_table.h"

struct qz_index {
	struct qz_hash_table procedures, parts, mappings, locations, nodes, samples, polled;
	struct qz_hash_table causes, objects, waits, wakings, calls, rounds;
	uint32_t members;				  /* of all rounds */
	uint32_t first_scope, first_thread, first_object; /* see struct qz_entities */
};

/* Whether `thread` belongs to this scope, or is QZ_NONE. */
static inline bool qz_profile__thread_of(const struct qz_profile *p, uint32_t thread,
					 uint32_t scope)
{
	return thread == QZ_NONE ||
	       (thread < p->nthreads && qz_scope__covers(p, scope, p->threads[thread].scope));
}

/* Whether `object` belongs to this scope, or is QZ_NONE. */
static inline bool qz_profile__object_of(const struct qz_profile *p, uint32_t object,
					 uint32_t scope)
{
	return object == QZ_NONE ||
	       (object < p->nobjects && qz_scope__covers(p, scope, p->objects[object].scope));
}

/* ---- core/model/rows.c ---- */

/* An index of rows that have no number for callers: a row is found by its key members. */
struct qz_rows {
	size_t rows, n; /* where a profile has them, and how many */
	size_t table;	/* where its index has them */
	size_t size;	/* of one */
	uint32_t (*hash)(const void *row);
	qz_table_equal *equal;
	const struct qz_field *figures;			  /* which add up */
	void (*release)(struct qz_profile *p, void *row); /* NULL: it owns nothing */
};

#define QZ_ROWS(list, count, index, type, ...)                                                     \
	{                                                                                          \
		offsetof(struct qz_profile, list), offsetof(struct qz_profile, count),             \
			offsetof(struct qz_index, index), sizeof(type), __VA_ARGS__                \
	}

extern const struct qz_rows qz_sample_rows, qz_polled_rows, qz_wait_rows, qz_waking_rows;
extern const struct qz_rows qz_call_rows, qz_round_rows;

/* The index of the row equal to *key, which is added if there is none; or -errno. */
int64_t qz_rows__intern(struct qz_profile *p, const struct qz_rows *kind, const void *key);

/* The same; adds the figures to those of the row. 0 or -errno. */
int qz_rows__add(struct qz_profile *p, const struct qz_rows *kind, const void *row);

/*
 * Calls `change` for each row, which may change its key, or returns false to drop it. Rows that become equal are joined.
 * Needs no memory.
 */
void qz_rows__change(struct qz_profile *p, const struct qz_rows *kind,
		     bool (*change)(void *context, void *row), void *context);

/* Frees memory that is not needed. */
void qz_rows__shrink(struct qz_profile *p, const struct qz_rows *kind);

/* ---- entities that are known by their index, for core/model/fold.h ---- */

/* Scopes, threads or objects: where a profile has them, and what is vacant among them. */
struct qz_entities {
	size_t rows, n, nvacant; /* in struct qz_profile */
	size_t first;		 /* in struct qz_index: no row before is vacant */
	size_t size, vacant;	 /* of one, and the flag in it */
};

#define QZ_ENTITIES(list, count, none, from, type)                                                 \
	{                                                                                          \
		offsetof(struct qz_profile, list), offsetof(struct qz_profile, count),             \
			offsetof(struct qz_profile, none), offsetof(struct qz_index, from),        \
			sizeof(type), offsetof(type, vacant)                                       \
	}

/* A row for a new entity: a vacant one, or one more, for which it makes room. Its index or -errno. */
int64_t qz_entities__room(struct qz_profile *p, const struct qz_entities *kind);

/* Stores the entity in that row. Returns the row. */
int64_t qz_entities__put(struct qz_profile *p, const struct qz_entities *kind, int64_t row,
			 const void *entity);

/* Marks a row that was emptied as vacant. */
void qz_entities__vacate(struct qz_profile *p, const struct qz_entities *kind, uint32_t row);

void qz_scope__vacate(struct qz_profile *p, uint32_t scope);
void qz_thread__vacate(struct qz_profile *p, uint32_t thread, uint32_t scope);

/* Vacates the objects of the marked scopes; they belong to `scope` then. */
void qz_objects__vacate(struct qz_profile *p, const bool *marked, uint32_t scope);

/* Makes a string "", and gives its memory back. */
void qz_profile__empty_string(char **field);

#endif
