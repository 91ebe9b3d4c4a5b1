/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structs to and from JSON objects by a table of their fields, so that what is written and what is
 * read cannot differ.
 */
#ifndef QUARTZ_CORE_FIELDS_H
#define QUARTZ_CORE_FIELDS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

enum qz_field_type {
	QZ_FIELD_U64, /* up to INT64_MAX, which larger values are written as */
	QZ_FIELD_I64,
	QZ_FIELD_U32,
	QZ_FIELD_I32,
	QZ_FIELD_BOOL,
	QZ_FIELD_TEXT, /* char *, any bytes; owned by the struct */
};

/* A table ends with a field without a name. */
struct qz_field {
	const char *name;
	enum qz_field_type type;
	size_t offset;
};

/* A field under the name of the member. */
#define QZ_FIELD(kind, of, member)                                                                 \
	{                                                                                          \
		.name = #member, .type = QZ_FIELD_##kind, .offset = offsetof(struct of, member)    \
	}

/*
 * Writing. A value, or NULL when memory was short for it or for a part of it. The setters of
 * jansson take NULL, for the object or for the value, as an error of theirs, so that one check at
 * the end of a sequence will do: that is what `unless` is for.
 */
json_t *qz_fields__object(const struct qz_field *fields, const void *base);
json_t *qz_fields__text(const char *s);
json_t *qz_fields__integer(uint64_t value);
json_t *qz_fields__integers(const uint64_t *values, uint32_t n);
json_t *qz_fields__losses(const struct qz_loss *losses, uint32_t n);

/* Gives value, or frees it and gives NULL. */
json_t *qz_fields__unless(bool failed, json_t *value);

/* The text of a value and a newline, to be freed. NULL: ENOMEM, or value is NULL. */
char *qz_fields__dump(const json_t *value, size_t flags);

/* Adds the fields of the struct at base to object. -ENOMEM. */
int qz_fields__write(json_t *object, const struct qz_field *fields, const void *base);

/*
 * Sets the fields of the struct at base; texts are NULL or to be freed. -EBADMSG when one is
 * missing, of another type or out of range; -ENOMEM. What was read by then stays.
 */
int qz_fields__read(const json_t *object, const struct qz_field *fields, void *base);

/* Frees the texts. */
void qz_fields__clear(const struct qz_field *fields, void *base);

/* The text of a JSON string in *text, which is freed first. -EBADMSG, -ENOMEM. */
int qz_fields__get_text(const json_t *value, char **text);

/* A JSON integer from 0 to max. -EBADMSG. */
int qz_fields__get_integer(const json_t *value, uint64_t max, uint64_t *integer);

#endif
