/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of the structs of a profile, each described once: its name in files and in JSON, and its uses. Merging
 * (core/transform/merge.h), subtracting (core/transform/delta.h, core/transform/slices.h), snapshot files
 * (core/format/snapshot_meta.h) and reports use these tables. Adding levels and lists by cause is left to the caller.
 */
#ifndef QUARTZ_CORE_FIELDS_H
#define QUARTZ_CORE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/model/profile.h"

enum qz_field_type {
	QZ_FIELD_U64, /* in JSON at most INT64_MAX: larger values are cut to that */
	QZ_FIELD_I64,
	QZ_FIELD_ADDRESS, /* of 64 bits: a file has all of them, as a signed number */
	QZ_FIELD_U32,
	QZ_FIELD_I32,
	QZ_FIELD_BOOL,
	/* These are owned by the struct. */
	QZ_FIELD_TEXT,	 /* char *, any bytes */
	QZ_FIELD_LEVELS, /* uint64_t *, one for each level */
	QZ_FIELD_LOSSES, /* struct qz_loss * */
};

enum qz_field_use {
	QZ_ADDS = 1,   /* counted or exact, of 64 bits: added when profiles are merged */
	QZ_TAKES = 2,  /* subtracted when the time between two moments is computed */
	QZ_OF_ALL = 4, /* the machine's value is the sum of all other scopes' */
	QZ_SAVED = 8,  /* it is in snapshot files */
	QZ_LATER = 16, /* but missing in files of earlier versions */
	QZ_RARE = 32,  /* and left out if it is 0, false or empty */
	QZ_SHOWN = 64, /* it is in JSON for programs */
	QZ_SUMS = QZ_ADDS | QZ_TAKES,
	QZ_TOLD = QZ_SAVED | QZ_SHOWN,
};

/* A table ends with a field without a name. */
struct qz_field {
	const char *name;
	enum qz_field_type type;
	unsigned int uses; /* enum qz_field_use */
	size_t at;
	size_t n; /* so many in a row, of 64 bits; of lists, where in the struct their length is */
};

#define QZ_FIELDS(kind, of, member, many, used_for)                                                \
	{                                                                                          \
		.name = #member, .type = QZ_FIELD_##kind, .uses = used_for,                        \
		.at = offsetof(struct of, member), .n = many                                       \
	}

/* A field under the name of the member; a list under that name, with its length in another one. */
#define QZ_FIELD(kind, of, member, used_for) QZ_FIELDS(kind, of, member, 1, used_for)
#define QZ_LIST(kind, of, member, length, used_for)                                                \
	QZ_FIELDS(kind, of, member, offsetof(struct of, length), used_for)

/* Of a struct that is for JSON alone. */
#define QZ_SHOWN_FIELD(kind, of, member) QZ_FIELD(kind, of, member, QZ_SHOWN)

extern const struct qz_field qz_run_fields[];  /* struct qz_profile */
extern const struct qz_field qz_cost_fields[]; /* of struct qz_profile, where they are watched */
extern const struct qz_field qz_ledger_fields[];
extern const struct qz_field qz_instants_fields[]; /* struct qz_rounds */
extern const struct qz_field qz_loss_fields[];
extern const struct qz_field qz_scope_fields[];
extern const struct qz_field qz_thread_fields[];
extern const struct qz_field qz_sample_fields[];
extern const struct qz_field qz_wait_fields[];
extern const struct qz_field qz_waking_fields[];
extern const struct qz_field qz_object_fields[];
extern const struct qz_field qz_call_fields[];
extern const struct qz_field qz_round_fields[]; /* struct qz_round */
extern const struct qz_field qz_what_if_fields[];

/* Frees what the struct owns, and sets it to NULL. */
void qz_fields__free(void *entity, const struct qz_field *table);

/* The number of figures with QZ_ADDS; and the address of one by its number. */
uint32_t qz_fields__count(const struct qz_field *table);
uint64_t *qz_fields__at(void *entity, const struct qz_field *table, uint32_t number);

/* Adds those fields that have one of these uses. */
void qz_fields__add_those(void *to, const void *from, const struct qz_field *table,
			  unsigned int uses);
void qz_fields__add(void *to, const void *from, const struct qz_field *table);

/* Sets those fields that have one of these uses to 0; of numbers of 64 bits. */
void qz_fields__clear(void *entity, const struct qz_field *table, unsigned int uses);

#endif
