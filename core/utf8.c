/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT    0xfffdu
#define STORED_BYTES   0x10ff00u /* a stored byte NN stands as STORED_BYTES + NN */
#define FIRST_BAD_BYTE 0x80u	 /* every smaller byte is a character */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t qz_utf8__decode(const char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)s[0];
	size_t length = first < 0x80   ? 1
			: first < 0xc0 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
				       : 4;
	uint32_t value;

	if (length == 0 || first >= 0xf8)
		return 0;
	value = length == 1 ? first : first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (!is_continuation(s[i]))
			return 0;
		value = value << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return length;
}

static char *encode(char *out, uint32_t code)
{
	if (code >= 0x10000) {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
	} else {
		*out++ = (char)(0xe0 | code >> 12);
	}
	*out++ = (char)(0x80 | (code >> 6 & 0x3f));
	*out++ = (char)(0x80 | (code & 0x3f));
	return out;
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

void qz_utf8__restore(char *s)
{
	char *out = s;
	uint32_t code;

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
