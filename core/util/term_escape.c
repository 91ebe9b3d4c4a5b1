/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/term_escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/utf8.h"

/* Printing these is harmless: no terminal acts on them, and they do not reorder the line. */
static bool is_plain(uint32_t c)
{
	bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
	bool line_end = c == 0x2028 || c == 0x2029;
	bool bidirectional = c == 0x061c || c == 0x200e || c == 0x200f ||
			     (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);

	return !control && !line_end && !bidirectional;
}

/* Returns the number of bytes of src that belong together, and how they are printed. */
static size_t next_piece(const char *src, char *piece, size_t *piece_length)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t code;
	size_t length = qz_utf8__decode(src, &code);
	size_t bytes = length ? length : 1;

	if (length && is_plain(code)) {
		memcpy(piece, src, length);
		*piece_length = length;
		return length;
	}
	for (size_t i = 0; i < bytes; i++) {
		unsigned char byte = (unsigned char)src[i];

		*piece++ = '\\';
		*piece++ = 'x';
		*piece++ = digits[byte >> 4];
		*piece++ = digits[byte & 0xf];
	}
	*piece_length = 4 * bytes;
	return bytes;
}

size_t qz_term_escape(char *dst, size_t size, const char *src)
{
	size_t needed = 0, written = 0;
	char piece[4 * 4];
	size_t length;

	while (*src) {
		src += next_piece(src, piece, &length);
		if (written == needed && needed + length < size) {
			memcpy(dst + written, piece, length);
			written += length;
		}
		needed += length;
	}
	if (size > 0)
		dst[written] = '\0';
	return needed;
}

char *qz_term_escape__copy(const char *src)
{
	size_t size = qz_term_escape(NULL, 0, src) + 1;
	char *copy = malloc(size);

	if (copy)
		qz_term_escape(copy, size, src);
	return copy;
}

/* Of a JSON text, which is ASCII nearly all: the length of what is plain from here on. */
static size_t count_plain(const char *s)
{
	const char *from = s;
	uint32_t code;
	size_t length;

	for (;; s += length ? length : 1) {
		while ((unsigned char)*s - 1u < 0x7e)
			s++;
		if (!*s)
			return s - from;
		length = qz_utf8__decode(s, &code);
		if (length && !is_plain(code))
			return s - from;
	}
}

/* All that are not plain are of the plane whose characters are one \uNNNN. */
char *qz_term_escape__json(char *text)
{
	static const size_t longest = sizeof("\\uNNNN") - 1;
	size_t extra = 0, length;
	char *copy, *out;
	uint32_t code;

	for (const char *s = text + count_plain(text); *s; s += count_plain(s)) {
		s += qz_utf8__decode(s, &code);
		extra += longest;
	}
	if (!extra)
		return text;
	copy = out = malloc(strlen(text) + extra + 1);
	for (const char *s = text; out; s += qz_utf8__decode(s, &code)) {
		length = count_plain(s);
		out = mempcpy(out, s, length);
		s += length;
		if (!*s)
			break;
		qz_utf8__decode(s, &code);
		out += sprintf(out, "\\u%04x", (unsigned int)code);
	}
	if (out)
		*out = '\0';
	free(text);
	return copy;
}
