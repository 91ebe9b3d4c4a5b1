/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structs to and from JSON by the tables of their fields (core/model/fields.h), so that what is written and
 * what is read cannot differ: fields that are shown to JSON objects for programs, fields that are saved to the
 * text of a snapshot file and back.
 */
#ifndef QUARTZ_CORE_JSON_FIELDS_H
#define QUARTZ_CORE_JSON_FIELDS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "core/model/fields.h"

/*
 * These return a value, or NULL if memory was short for it or for a part of it. The setters of jansson fail if the object
 * or the value is NULL, so that one check at the end of a sequence is enough: qz_json_fields__unless.
 */
/* A text for programs; bytes that are not UTF-8 are replaced. */
json_t *qz_json_fields__text(const char *s);
json_t *qz_json_fields__integer(uint64_t value);
json_t *qz_json_fields__integers(const uint64_t *values, uint32_t n);
json_t *qz_json_fields__losses(const struct qz_loss *losses, uint32_t n);

/* Returns value, or if `failed` frees it and returns NULL. */
json_t *qz_json_fields__unless(bool failed, json_t *value);

/* The text of a value and a newline, to be freed. NULL: ENOMEM, or value is NULL. */
char *qz_json_fields__dump(const json_t *value, size_t flags);

/*
 * Prints that text, compact and without the newline, and frees the value: for documents that are written in pieces. 0 or
 * -ENOMEM; write errors stay in out.
 */
int qz_json_fields__put(FILE *out, json_t *value);

/* The fields of a struct that are shown: an object of them, or added to one. -ENOMEM. */
json_t *qz_json_fields__object(const struct qz_field *fields, const void *base);
int qz_json_fields__write(json_t *object, const struct qz_field *fields, const void *base);

/*
 * Prints the fields that are saved, with `before` before the first one, and commas between them. A text is printed so that
 * all its bytes can be read back. 0 or -ENOMEM; write errors stay in out.
 */
int qz_json_fields__print(FILE *out, char before, const struct qz_field *fields, const void *base);
int qz_json_fields__print_text(FILE *out, const char *s);

/*
 * Sets the fields that are saved; qz_fields__free frees them. 0; -EBADMSG: a field that all versions save is missing, or
 * one has another type or is out of range; -EFBIG: too many levels; -ENOMEM. After an error, fields read before stay set.
 */
int qz_json_fields__read(const json_t *object, const struct qz_field *fields, void *base);

/* The text of a JSON string in *text, which is freed first. -EBADMSG, -ENOMEM. */
int qz_json_fields__get_text(const json_t *value, char **text);

/* A JSON integer from 0 to max. -EBADMSG. */
int qz_json_fields__get_integer(const json_t *value, uint64_t max, uint64_t *integer);

#endif
