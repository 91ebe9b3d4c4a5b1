/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables as JSON objects of columns, a tenth of the size of an object for each row: {"pid":[1,2],"comm":["a","b"]}.
 */
#ifndef QUARTZ_CORE_HTML_COLUMNS_H
#define QUARTZ_CORE_HTML_COLUMNS_H

#include <stdio.h>

#include "core/model/fields.h"

/* A column of the member, or a member of a member, of a struct. */
#define QZ_HTML_COLUMN(kind, of, called, path)                                                     \
	{                                                                                          \
		.name = called, .type = QZ_FIELD_##kind, .uses = QZ_SHOWN,                         \
		.at = offsetof(struct of, path), .n = 1                                            \
	}

/* The first of n structs, which are `stride` bytes apart. */
struct qz_html_table {
	const void *rows;
	uint32_t n;
	size_t stride;
};

/*
 * Prints the fields of a table that are shown, without braces: "pid":[1,2],"comm":["a","b"], with `before` before the first
 * one. Indices that are QZ_NONE become -1. 0 or -ENOMEM; write errors stay in out.
 */
int qz_html_columns__put(FILE *out, const char *before, const struct qz_field *fields,
			 const struct qz_html_table *table);

#endif
