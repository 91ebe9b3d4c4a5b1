/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UTF-8 of strings that others chose: they may hold any byte but 0.
 */
#ifndef QUARTZ_CORE_UTF8_H
#define QUARTZ_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the number of bytes (1 to 4) of the character at s and its code point in *code, or 0 when
 * no valid character is there (overlong forms and surrogates are not valid). s must not be at
 * its terminator.
 */
size_t qz_utf8__decode(const char *s, uint32_t *code);

/* A copy of s in which each byte that is not part of a character became U+FFFD. NULL: ENOMEM. */
char *qz_utf8__replace(const char *s);

/*
 * A copy of s that is valid UTF-8 and from which qz_utf8__restore gets s back: each byte NN that is
 * not part of a character became the private U+10FFNN. NULL: ENOMEM.
 */
char *qz_utf8__store(const char *s);

/* Whether that is equal to s. */
bool qz_utf8__stays(const char *s);

/* Undoes qz_utf8__store in place. */
void qz_utf8__restore(char *s);

#endif
