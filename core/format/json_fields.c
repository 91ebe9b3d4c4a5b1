/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/json_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/term_escape.h"
#include "core/util/utf8.h"

json_t *qz_json_fields__text(const char *s)
{
	char *valid = qz_utf8__replace(s);
	json_t *text = valid ? json_string(valid) : NULL;

	free(valid);
	return text;
}

static uint64_t bounded(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

json_t *qz_json_fields__integer(uint64_t value)
{
	return json_integer((json_int_t)bounded(value));
}

json_t *qz_json_fields__unless(bool failed, json_t *value)
{
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

json_t *qz_json_fields__integers(const uint64_t *values, uint32_t n)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, qz_json_fields__integer(values[i])) != 0;
	return qz_json_fields__unless(failed, array);
}

json_t *qz_json_fields__losses(const struct qz_loss *losses, uint32_t n)
{
	json_t *object = json_object();
	bool failed = !object;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_object_set_new(object, losses[i].cause,
					     qz_json_fields__integer(losses[i].count)) != 0;
	return qz_json_fields__unless(failed, object);
}

/* Of a list of the struct. */
static uint32_t *length_of(const struct qz_field *f, const void *base)
{
	return (uint32_t *)((char *)base + f->n);
}

/* ---- what is shown ---- */

static json_t *field_value(const struct qz_field *f, const void *base)
{
	const void *at = (const char *)base + f->at;

	switch (f->type) {
	case QZ_FIELD_U64:
	case QZ_FIELD_ADDRESS:
		return f->n > 1 ? qz_json_fields__integers(at, f->n)
				: qz_json_fields__integer(*(const uint64_t *)at);
	case QZ_FIELD_I64:
		return json_integer(*(const int64_t *)at);
	case QZ_FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case QZ_FIELD_I32:
		return json_integer(*(const int32_t *)at);
	case QZ_FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case QZ_FIELD_TEXT:
		return qz_json_fields__text(*(char *const *)at);
	case QZ_FIELD_LEVELS:
		return qz_json_fields__integers(*(uint64_t *const *)at, *length_of(f, base));
	case QZ_FIELD_LOSSES:
		return qz_json_fields__losses(*(struct qz_loss *const *)at, *length_of(f, base));
	}
	return NULL;
}

int qz_json_fields__write(json_t *object, const struct qz_field *fields, const void *base)
{
	for (const struct qz_field *f = fields; f->name; f++)
		if (f->uses & QZ_SHOWN &&
		    json_object_set_new(object, f->name, field_value(f, base)))
			return -ENOMEM;
	return 0;
}

json_t *qz_json_fields__object(const struct qz_field *fields, const void *base)
{
	json_t *object = json_object();

	return qz_json_fields__unless(!object || qz_json_fields__write(object, fields, base),
				      object);
}

struct dump {
	char *text;
	size_t size, room;
	bool failed; /* a piece was lost; jansson 2.14 does not stop when that was a key */
};

static int take_piece(const char *piece, size_t size, void *context)
{
	struct dump *d = context;

	if (d->room - d->size < size) {
		size_t room = 2 * (d->room + size);
		char *text = d->failed ? NULL : realloc(d->text, room);

		d->failed = !text;
		if (!text)
			return -1;
		d->text = text;
		d->room = room;
	}
	memcpy(d->text + d->size, piece, size);
	d->size += size;
	return 0;
}

char *qz_json_fields__dump(const json_t *value, size_t flags)
{
	struct dump d = {0};

	if (json_dump_callback(value, take_piece, &d, flags) || d.failed ||
	    take_piece("\n", sizeof("\n"), &d)) {
		free(d.text);
		errno = ENOMEM;
		return NULL;
	}
	return qz_term_escape__json(d.text);
}

int qz_json_fields__put(FILE *out, json_t *value)
{
	char *text = value ? qz_json_fields__dump(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	int err = text ? 0 : -ENOMEM;

	json_decref(value);
	if (text)
		fwrite(text, 1, strlen(text) - 1, out);
	free(text);
	return err;
}

/* ---- what is saved ---- */

static int print_json(FILE *out, json_t *value)
{
	int err = json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY) ? -ENOMEM : 0;

	json_decref(value);
	return err;
}

int qz_json_fields__print_text(FILE *out, const char *s)
{
	char *stored = qz_utf8__store(s);
	json_t *text = stored ? json_string(stored) : NULL;

	free(stored);
	return print_json(out, text);
}

static void print_numbers(FILE *out, const uint64_t *values, size_t n)
{
	fputc('[', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", bounded(values[i]));
	fputc(']', out);
}

/* Numbers are printed as they are: by JSON objects, the metadata of thousands of threads takes twice the time. */
static int print_value(FILE *out, const struct qz_field *f, const void *base)
{
	const void *at = (const char *)base + f->at;

	switch (f->type) {
	case QZ_FIELD_U64:
		if (f->n > 1)
			print_numbers(out, at, f->n);
		else
			fprintf(out, "%" PRIu64, bounded(*(const uint64_t *)at));
		break;
	case QZ_FIELD_U32:
		fprintf(out, "%" PRIu32, *(const uint32_t *)at);
		break;
	case QZ_FIELD_I64:
	case QZ_FIELD_ADDRESS:
		fprintf(out, "%" PRId64, *(const int64_t *)at);
		break;
	case QZ_FIELD_I32:
		fprintf(out, "%" PRId32, *(const int32_t *)at);
		break;
	case QZ_FIELD_BOOL:
		fputs(*(const bool *)at ? "true" : "false", out);
		break;
	case QZ_FIELD_TEXT:
		return qz_json_fields__print_text(out, *(char *const *)at);
	case QZ_FIELD_LEVELS:
		print_numbers(out, *(uint64_t *const *)at, *length_of(f, base));
		break;
	case QZ_FIELD_LOSSES:
		return print_json(out, field_value(f, base));
	}
	return 0;
}

/* A rare field is a number of 64 bits, a truth value, a text or a list by cause. */
static bool is_zero(const struct qz_field *f, const void *base)
{
	const void *at = (const char *)base + f->at;

	if (f->type == QZ_FIELD_BOOL)
		return !*(const bool *)at;
	if (f->type == QZ_FIELD_TEXT)
		return !**(char *const *)at;
	if (f->type == QZ_FIELD_LOSSES)
		return !*length_of(f, base);
	for (size_t i = 0; i < f->n; i++)
		if (((const uint64_t *)at)[i])
			return false;
	return true;
}

int qz_json_fields__print(FILE *out, char before, const struct qz_field *fields, const void *base)
{
	int err = 0;

	for (const struct qz_field *f = fields; !err && f->name; f++) {
		if (!(f->uses & QZ_SAVED) || (f->uses & QZ_RARE && is_zero(f, base)))
			continue;
		fprintf(out, "%c\"%s\":", before, f->name);
		err = print_value(out, f, base);
		before = ',';
	}
	return err;
}

int qz_json_fields__get_text(const json_t *value, char **text)
{
	char *copy;

	if (!json_is_string(value))
		return -EBADMSG;
	copy = strdup(json_string_value(value));
	if (!copy)
		return -ENOMEM;
	qz_utf8__restore(copy);
	free(*text);
	*text = copy;
	return 0;
}

int qz_json_fields__get_integer(const json_t *value, uint64_t max, uint64_t *integer)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || (uint64_t)number > max)
		return -EBADMSG;
	*integer = (uint64_t)number;
	return 0;
}

static int read_signed(const json_t *value, int64_t min, int64_t max, int64_t *integer)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < min || number > max)
		return -EBADMSG;
	*integer = number;
	return 0;
}

static int read_numbers(const json_t *array, uint64_t *values, size_t n)
{
	int err = json_array_size(array) == n ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < n; i++)
		err = qz_json_fields__get_integer(json_array_get(array, i), INT64_MAX, &values[i]);
	return err;
}

static int read_levels(const json_t *array, uint64_t **levels, uint32_t *nlevels)
{
	size_t n = json_array_size(array);

	if (n == 0 || n > QZ_MAX_LEVELS)
		return n ? -EFBIG : -EBADMSG;
	*levels = calloc(n, sizeof(**levels));
	if (!*levels)
		return -ENOMEM;
	*nlevels = (uint32_t)n;
	return read_numbers(array, *levels, n);
}

static int read_losses(const json_t *object, struct qz_loss **losses, uint32_t *nlosses)
{
	json_t *causes = (json_t *)object; /* whose iterators are not const */
	int err = json_is_object(causes) ? 0 : -EBADMSG;
	uint64_t n;

	for (void *i = json_object_iter(causes); !err && i; i = json_object_iter_next(causes, i)) {
		err = qz_json_fields__get_integer(json_object_iter_value(i), INT64_MAX, &n);
		if (!err)
			err = qz_losses__add(losses, nlosses, json_object_iter_key(i), n);
	}
	return err;
}

static int read_value(const json_t *value, const struct qz_field *f, void *base)
{
	void *at = (char *)base + f->at;
	uint64_t number = 0;
	int64_t integer = 0;
	int err = 0;

	switch (f->type) {
	case QZ_FIELD_U64:
		return f->n > 1 ? read_numbers(value, at, f->n)
				: qz_json_fields__get_integer(value, INT64_MAX, at);
	case QZ_FIELD_I64:
	case QZ_FIELD_ADDRESS:
		return read_signed(value, INT64_MIN, INT64_MAX, at);
	case QZ_FIELD_U32:
		err = qz_json_fields__get_integer(value, UINT32_MAX, &number);
		*(uint32_t *)at = (uint32_t)number;
		break;
	case QZ_FIELD_I32:
		err = read_signed(value, INT32_MIN, INT32_MAX, &integer);
		*(int32_t *)at = (int32_t)integer;
		break;
	case QZ_FIELD_BOOL:
		if (!json_is_boolean(value))
			return -EBADMSG;
		*(bool *)at = json_is_true(value);
		break;
	case QZ_FIELD_TEXT:
		return qz_json_fields__get_text(value, at);
	case QZ_FIELD_LEVELS:
		return read_levels(value, at, length_of(f, base));
	case QZ_FIELD_LOSSES:
		return read_losses(value, at, length_of(f, base));
	}
	return err;
}

int qz_json_fields__read(const json_t *object, const struct qz_field *fields, void *base)
{
	for (const struct qz_field *f = fields; f->name; f++) {
		const json_t *value = json_object_get(object, f->name);
		int err;

		if (!(f->uses & QZ_SAVED) || (!value && f->uses & QZ_LATER))
			continue;
		err = read_value(value, f, base);
		if (err)
			return err;
	}
	return 0;
}
