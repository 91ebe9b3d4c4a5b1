/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escapes foreign names (comm, path, symbol, label): every one passes this function before it is printed on a terminal or
 * into a text table.
 */
#ifndef QUARTZ_CORE_TERM_ESCAPE_H
#define QUARTZ_CORE_TERM_ESCAPE_H

#include <stddef.h>

/*
 * Writes src to dst as printable UTF-8: C0 and C1 controls, DEL, line and paragraph separators,
 * invalid UTF-8, surrogates and bidirectional controls become \xNN per byte. dst is always
 * terminated when size > 0 and never ends within an escape or a character. Returns the length that
 * the whole result needs, without the terminator (as snprintf does).
 */
size_t qz_term_escape(char *dst, size_t size, const char *src);

/* The same as a string of its own, which is malloc'ed. NULL with errno ENOMEM. */
char *qz_term_escape__copy(const char *src);

/*
 * A JSON text, which is malloc'ed and taken over, with the same characters as \uNNNN. They can only be in its strings,
 * whose meaning does not change; the writer has escaped characters below 0x7f. NULL with errno ENOMEM.
 */
char *qz_term_escape__json(char *text);

#endif
