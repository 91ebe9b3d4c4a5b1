/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Label values from names that other programs chose. Prometheus rejects the whole page if two
 * series have the same labels. So different names have different values, and no name has the value
 * of one of Quartz's own rows. No system calls.
 */
#ifndef QUARTZ_EXPORTER_LABEL_H
#define QUARTZ_EXPORTER_LABEL_H

#include <stdint.h>

#define LABEL_SIZE 1024 /* of a value with its NUL */

/* Names of Quartz's own rows, besides [kernel] and those of ended processes. */
#define LABEL_OTHERS  "other (limited)"
#define LABEL_UNNAMED "-" /* they have no name */

/*
 * A name for use between the quotes of a label: printable (core/util/term_escape.h) and reversible.
 * A name that is too long is cut and ends in \# and the number, which must be unique to its row.
 */
const char *label__of_name(char label[LABEL_SIZE], const char *name, uint64_t number);

/* A text of Quartz's own. */
const char *label__of_words(char label[LABEL_SIZE], const char *words);

#endif
