/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text table whose columns are as wide as what is in them. Numbers are aligned right, words left; the
 * last column is cut at the width of the output, and so are those that may be.
 */
#ifndef QUARTZ_CLI_TEXT_TABLE_H
#define QUARTZ_CLI_TEXT_TABLE_H

#include <stdbool.h>

#include "cli/render/output.h"

enum emphasis { PLAIN, NOTABLE, GRAVE };

struct column {
	const char *head[2]; /* two lines */
	bool left;
	bool elastic; /* is cut where the table is wider than the output; the last column is anyway */
	bool joined; /* belongs to the column before: one blank between them instead of two */
};

struct text_table;

/* The heads are borrowed. NULL, which may be used, too: then print reports the lack of memory. */
struct text_table *text_table__new(const struct column *heads, int n);

/* Appends a cell; the last one of a row begins the next. A lack of memory is reported by print. */
void text_table__add(struct text_table *table, enum emphasis emphasis, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a text that is taken over, and freed; NULL: memory was short. */
void text_table__take(struct text_table *table, char *text);

/* Whether `cut` is what a table shows of a longer text. */
bool text_table__is_cut(const char *cut, const char *text);

/* Prints it and frees it. 0 or -ENOMEM. */
int text_table__print(struct text_table *table, const struct output *out);

#endif
