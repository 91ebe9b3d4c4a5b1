/* SPDX-License-Identifier: GPL-2.0-only */
/* Demangling: names of symbol tables become names for readers. */
#ifndef QUARTZ_SYMBOLIZER_NAME_H
#define QUARTZ_SYMBOLIZER_NAME_H

#include <stddef.h>

#define NAME_MAX_LENGTH 4095

struct name {
	size_t length;
	char text[NAME_MAX_LENGTH + 1];
};

/*
 * Writes the C++, Rust, D or Fortran name of a symbol; otherwise the symbol itself, without the
 * version that glibc's symbol table appends ("write@@GLIBC_2.2.5"). Longer names are cut.
 */
void name__demangle(struct name *out, const char *symbol);

/* The same for a module of Ada, whose symbols look like those of C. */
void name__demangle_ada(struct name *out, const char *symbol);

void name__set(struct name *out, const char *text);
void name__append(struct name *out, const char *text, size_t length);

#endif
