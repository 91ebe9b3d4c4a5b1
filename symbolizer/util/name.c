/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/util/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
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
 * Most references in a D symbol. Each reference to an earlier part can double the length of the
 * name, and libiberty's D demangler has no callback form; a symbol with more references stays as it
 * is.
 */
#define D_REFERENCES_MAX 16

/* Takes ownership of the result of a demangler, or NULL. */
static bool take(struct name *out, char *name, const char *unlike)
{
	bool good = name && strncmp(name, unlike, strlen(unlike)) != 0;

	if (good)
		name__set(out, name);
	free(name);
	return good;
}

static bool demangle_d(struct name *out, const char *symbol)
{
	unsigned int references = 0;

	for (const char *c = symbol; *c; c++)
		references += *c == 'Q';
	return strncmp(symbol, "_D", 2) == 0 && references <= D_REFERENCES_MAX &&
	       take(out, dlang_demangle(symbol, DMGL_NO_OPTS), "_D");
}

/* gfortran: __MODULE_MOD_PROCEDURE. */
static bool demangle_fortran(struct name *out, const char *symbol)
{
	const char *mark = strncmp(symbol, "__", 2) ? NULL : strstr(symbol + 3, "_MOD_");

	if (!mark || !islower(symbol[2]) || !islower(mark[5]))
		return false;
	out->length = 0;
	name__append(out, symbol + 2, (size_t)(mark - symbol) - 2);
	name__append(out, "::", 2);
	mark += strlen("_MOD_");
	name__append(out, mark, strlen(mark));
	return true;
}

/*
 * Uses the callback forms of the demanglers: a short symbol can stand for a name of gigabytes, of
 * which only the beginning is kept. Rust's older names look like C++, so Rust goes first; it
 * accepts only names that end in its hash.
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
		if (demangle_d(out, symbol) || demangle_fortran(out, symbol))
			return;
	}
	name__set(out, symbol);
	version = strchr(out->text + (out->length > 0), '@');
	if (version) {
		out->length = (size_t)(version - out->text);
		out->text[out->length] = '\0';
	}
}

void name__demangle_ada(struct name *out, const char *symbol)
{
	name__demangle(out, symbol);
	if (strcmp(out->text, symbol) == 0)
		take(out, ada_demangle(symbol, DMGL_NO_OPTS), "<");
}
