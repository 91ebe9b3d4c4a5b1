/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text table whose columns are as wide as what is in them. Numbers stand right, words left; the
 * last column is cut at the width of the output.
 */
#ifndef QUARTZ_CLI_COLUMNS_H
#define QUARTZ_CLI_COLUMNS_H

#include <stdbool.h>

#include "cli/output.h"

enum emphasis { PLAIN, NOTABLE, GRAVE };

struct column {
	const char *head[2]; /* two lines */
	bool left;
	bool joined; /* belongs to the column before: one blank between them instead of two */
};

struct columns;

/* The heads are borrowed. NULL with ENOMEM. */
struct columns *columns__new(const struct column *heads, int n);
void columns__free(struct columns *c);

/* Appends a cell; the last one of a row begins the next. A lack of memory is told by print. */
void columns__add(struct columns *c, enum emphasis emphasis, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* 0 or -ENOMEM. */
int columns__print(const struct columns *c, const struct output *out);

#endif
