/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines or instructions an annotation shows: those with figures, and some around them. */
#ifndef QUARTZ_CLI_EXCERPT_H
#define QUARTZ_CLI_EXCERPT_H

#include "cli/code/annotation.h"

struct excerpt_row {
	uint64_t number;  /* line or address, 0: not known */
	const char *text; /* NULL: stands for rows that are left out */
	uint32_t time;	  /* index of the annotation's times, or QZ_NONE */
	bool is_file;	  /* the text names the file of the rows after it */
};

struct excerpt {
	uint32_t n;
	struct excerpt_row *rows;
};

/*
 * `chosen` flags the times that are shown. Lines of the procedure's own file begin with the declaration, where it
 * is known, instructions with the first. Where lines of another file are shown, a row before them names it. Without
 * a source text, lines with figures alone. 0 or -ENOMEM; to be freed in any case.
 */
int excerpt__lines(struct excerpt *e, const struct qz_report *r, const struct annotation *a,
		   const bool *chosen);
int excerpt__instructions(struct excerpt *e, const struct annotation *a, const bool *chosen);
void excerpt__free(struct excerpt *e);

/* The file that a time's line is in, as the profile has it, "" when unknown. */
const char *excerpt__file(const struct qz_report *r, const struct annotation *a, uint32_t part);

/* The instruction of a sampled address, d->n: none of them. */
uint32_t excerpt__instruction(const struct disassembly *d, const struct qz_code_time *t);

#endif
