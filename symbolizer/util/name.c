/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/util/name.h"

#include <string.h>
#include <libiberty/demangle.h>

void name__append(struct name *out, const char *text, size_t length)
{
	if (length > NAME_MAX_LENGTH - out->length)
		length = NAME_MAX_LENGTH - out->length;
	memcpy(out->text + out->length, text, length);
	out->length += length;
	out->text[out->length] = '\0';
}

void name__set(struct name *out, const char *text)
{
	out->length = 0;
	name__append(out, text, strnlen(text, NAME_MAX_LENGTH));
}

static void append(const char *text, size_t length, void *out)
{
	name__append(out, text, length);
}

/*
 * The forms of the demanglers that hand out pieces: a short symbol can stand for a name of
 * gigabytes, of which only the beginning is kept. Rust's older names look like C++, so it goes
 * first; it accepts only names that end in its hash.
 */
void name__demangle(struct name *out, const char *symbol)
{
	const char *version;

	out->length = 0;
	if (strnlen(symbol, NAME_MAX_LENGTH + 1) <= NAME_MAX_LENGTH && symbol[0] == '_') {
		if (rust_demangle_callback(symbol, DMGL_NO_OPTS, append, out))
			return;
		out->length = 0;
		if (cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, append, out))
			return;
	}
	name__set(out, symbol);
	version = strchr(out->text + (out->length > 0), '@');
	if (version) {
		out->length = (size_t)(version - out->text);
		out->text[out->length] = '\0';
	}
}
