/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/label.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/util/term_escape.h"
#include "core/transform/merge.h"

#define MAX_TEXT                                                                                   \
	(LABEL_SIZE / 2 - 32) /* each byte may become two; a cut name is followed by a number */

static bool is_reserved(const char *name)
{
	static const char *const reserved[] = {LABEL_OTHERS, LABEL_UNNAMED, "[kernel]",
					       QZ_ENDED_NAME};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (!strcmp(name, reserved[i]))
			return true;
	return false;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/*
 * Whether s begins like something that this file writes: an escaped byte (an unprintable one, a
 * backslash, or the first byte of a reserved name) or the mark of a cut name. All other
 * backslashes, which systemd's names often contain, are literal.
 */
static bool is_ambiguous(const char *s, bool first)
{
	int high, byte;

	if (s[0] != '\\' || s[1] == '#')
		return s[0] == '\\';
	high = s[1] == 'x' ? digit(s[2]) : -1;
	if (high < 0 || digit(s[3]) < 0)
		return false;
	byte = high << 4 | digit(s[3]);
	return byte < 0x20 || byte >= 0x7f || byte == '\\' || (first && strchr("-[o", byte));
}

/* Escapes ambiguous bytes; qz_term_escape does the rest. False: the name was cut. */
static bool protect(char text[MAX_TEXT], const char *name)
{
	bool reserved = is_reserved(name);
	size_t n = 0;

	for (const char *from = name; *from; from++) {
		if (n + 5 > MAX_TEXT)
			return false;
		if ((reserved && from == name) || is_ambiguous(from, from == name))
			n += (size_t)sprintf(text + n, "\\x%02x", (unsigned char)*from);
		else
			text[n++] = *from;
		text[n] = '\0';
	}
	return true;
}

static const char *quote(char label[LABEL_SIZE], const char *text)
{
	char *to = label;

	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
	return label;
}

const char *label__of_name(char label[LABEL_SIZE], const char *name, uint64_t number)
{
	char text[MAX_TEXT] = "", escaped[MAX_TEXT + 32];
	bool whole = protect(text, name);

	if (qz_term_escape(escaped, MAX_TEXT, text) >= MAX_TEXT || !whole)
		sprintf(escaped + strlen(escaped), "\\#%" PRIu64, number);
	return quote(label, *name ? escaped : LABEL_UNNAMED);
}

const char *label__of_words(char label[LABEL_SIZE], const char *words)
{
	char escaped[MAX_TEXT];

	qz_term_escape(escaped, sizeof(escaped), words);
	return quote(label, escaped);
}
