/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#define REPLACEMENT    0xfffdu
#define STORED_BYTES   0x10ff00u /* byte NN is stored as STORED_BYTES + NN */
#define FIRST_BAD_BYTE 0x80u	 /* every smaller byte is a character */

size_t qz_utf8__decode(const char *s, uint32_t *code)
{
	ucs4_t value;
	int length;

	if ((unsigned char)*s - 1u < 0x7f) {
		*code = (unsigned char)*s; /* nearly all are */
		return 1;
	}
	length = u8_strmbtouc(&value, (const uint8_t *)s);
	if (length <= 0)
		return 0;
	*code = value;
	return (size_t)length;
}

static char *encode(char *out, uint32_t code)
{
	return out + u8_uctomb((uint8_t *)out, code, 4);
}
static bool is_stored_byte(uint32_t code)
{
	return code >= STORED_BYTES + FIRST_BAD_BYTE && code <= STORED_BYTES + 0xff;
}

char *qz_utf8__replace(const char *s)
{
	char *copy = malloc(3 * strlen(s) + 1), *out = copy;
	uint32_t code;

	if (!copy)
		return NULL;
	while (*s) {
		size_t length = qz_utf8__decode(s, &code);

		out = length ? mempcpy(out, s, length) : encode(out, REPLACEMENT);
		s += length ? length : 1;
	}
	*out = '\0';
	return copy;
}

/* The bytes of a character that reads like a stored byte are stored one by one themselves. */
char *qz_utf8__store(const char *s)
{
	char *copy = malloc(4 * strlen(s) + 1), *out = copy;
	uint32_t code;

	if (!copy)
		return NULL;
	while (*s) {
		size_t length = qz_utf8__decode(s, &code);

		if (length && !is_stored_byte(code)) {
			out = mempcpy(out, s, length);
			s += length;
		} else {
			out = encode(out, STORED_BYTES + (unsigned char)*s++);
		}
	}
	*out = '\0';
	return copy;
}

bool qz_utf8__stays(const char *s)
{
	uint32_t code;

	while (*s) {
		size_t length = qz_utf8__decode(s, &code);

		if (!length || is_stored_byte(code))
			return false;
		s += length;
	}
	return true;
}

void qz_utf8__restore(char *s)
{
	char *out;
	uint32_t code;

	while ((unsigned char)*s - 1u < 0x7f)
		s++;
	out = s;
	while (*s) {
		size_t length = qz_utf8__decode(s, &code);

		if (length && is_stored_byte(code)) {
			*out++ = (char)(code & 0xff);
			s += length;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}
