/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the text of a data command goes: standard output or a pager, how wide it may be, and which
 * characters and colours it may use.
 */
#ifndef QUARTZ_CLI_OUTPUT_H
#define QUARTZ_CLI_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/cli.h"

struct output {
	FILE *file;
	bool pager; /* file is a pipe to one */
	bool utf8, color;
	int width; /* of a line, in characters */
	FILE *narrow; /* where file, which is in memory then, is written with its lines broken; or NULL */
	char *text; /* of that memory */
	size_t size;
};

/* The pager is started when standard output is a terminal, unless the user forbids it. */
void output__open(struct output *o, const struct config *config);

/*
 * Waits for the pager. That the user left it early is not an error; errors of standard output are
 * found when main closes it.
 */
void output__close(struct output *o);

/*
 * Prints a document on standard output, sorted by key, each level indented by so many columns. Takes root; NULL:
 * there was no memory to make it. Write errors show when main closes standard output.
 */
enum status output__json(json_t *root, size_t indent);

/* A copy of a foreign name that may be printed, or NULL (ENOMEM). */
char *output__escape(const char *name);

/* Characters of an escaped string. */
int output__count_characters(const char *s);

/* Bytes of the first n characters of s. */
size_t output__skip_characters(const char *s, int n);

#endif
