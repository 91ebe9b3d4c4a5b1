/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

json_t *qz_fields__text(const char *s)
{
	char *stored = qz_utf8__store(s);
	json_t *text = stored ? json_string(stored) : NULL;

	free(stored);
	return text;
}

json_t *qz_fields__integer(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *qz_fields__unless(bool failed, json_t *value)
{
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

json_t *qz_fields__integers(const uint64_t *values, uint32_t n)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_array_append_new(array, qz_fields__integer(values[i])) != 0;
	return qz_fields__unless(failed, array);
}

json_t *qz_fields__losses(const struct qz_loss *losses, uint32_t n)
{
	json_t *object = json_object();
	bool failed = !object;

	for (uint32_t i = 0; !failed && i < n; i++)
		failed = json_object_set_new(object, losses[i].cause,
					     qz_fields__integer(losses[i].count)) != 0;
	return qz_fields__unless(failed, object);
}

static json_t *field_value(const struct qz_field *f, const char *at)
{
	switch (f->type) {
	case QZ_FIELD_U64:
		return qz_fields__integer(*(const uint64_t *)at);
	case QZ_FIELD_I64:
		return json_integer(*(const int64_t *)at);
	case QZ_FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case QZ_FIELD_I32:
		return json_integer(*(const int32_t *)at);
	case QZ_FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case QZ_FIELD_TEXT:
		return qz_fields__text(*(char *const *)at);
	}
	return NULL;
}

int qz_fields__write(json_t *object, const struct qz_field *fields, const void *base)
{
	for (const struct qz_field *f = fields; f->name; f++)
		if (json_object_set_new(object, f->name,
					field_value(f, (const char *)base + f->offset)))
			return -ENOMEM;
	return 0;
}

json_t *qz_fields__object(const struct qz_field *fields, const void *base)
{
	json_t *object = json_object();

	return qz_fields__unless(!object || qz_fields__write(object, fields, base), object);
}

/* json_dumps of jansson 2.14 drops a key, and says nothing, when its buffer cannot grow. */
char *qz_fields__dump(const json_t *value, size_t flags)
{
	size_t size = json_dumpb(value, NULL, 0, flags);
	char *text = size ? malloc(size + 2) : NULL;

	if (!text || json_dumpb(value, text, size, flags) != size) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	strcpy(text + size, "\n");
	return text;
}

int qz_fields__get_text(const json_t *value, char **text)
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

int qz_fields__get_integer(const json_t *value, uint64_t max, uint64_t *integer)
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

static int read_field(const json_t *value, enum qz_field_type type, char *at)
{
	uint64_t number = 0;
	int64_t integer = 0;
	int err = 0;

	switch (type) {
	case QZ_FIELD_U64:
		return qz_fields__get_integer(value, INT64_MAX, (uint64_t *)at);
	case QZ_FIELD_I64:
		return read_signed(value, INT64_MIN, INT64_MAX, (int64_t *)at);
	case QZ_FIELD_U32:
		err = qz_fields__get_integer(value, UINT32_MAX, &number);
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
		return qz_fields__get_text(value, (char **)at);
	}
	return err;
}

int qz_fields__read(const json_t *object, const struct qz_field *fields, void *base)
{
	for (const struct qz_field *f = fields; f->name; f++) {
		int err = read_field(json_object_get(object, f->name), f->type,
				     (char *)base + f->offset);

		if (err)
			return err;
	}
	return 0;
}

void qz_fields__clear(const struct qz_field *fields, void *base)
{
	for (const struct qz_field *f = fields; f->name; f++) {
		char **text = (char **)((char *)base + f->offset);

		if (f->type == QZ_FIELD_TEXT) {
			free(*text);
			*text = NULL;
		}
	}
}
