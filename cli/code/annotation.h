/* SPDX-License-Identifier: GPL-2.0-only */
/* One procedure's self time by source line or by instruction, as text and as JSON. */
#ifndef QUARTZ_CLI_ANNOTATION_H
#define QUARTZ_CLI_ANNOTATION_H

#include <jansson.h>

#include "cli/code/disassembly.h"
#include "cli/code/source_file.h"
#include "cli/render/scope_view.h"
#include "core/source/code_times.h"

/* A file that has lines of the procedure: its own, or one that was included, or named by #line. */
struct annotated_file {
	uint32_t part;	/* as in struct qz_line */
	uint32_t first; /* of the annotation's times that are in it */
	uint32_t n;
	struct source_file source; /* without lines where it is not there */
};

struct annotation {
	const struct qz_row *row; /* of the procedure */
	uint32_t n;
	struct qz_code_time *times;	    /* all that have figures */
	uint32_t nfiles;		    /* of lines */
	struct annotated_file *files;	    /* the procedure's own first */
	const struct disassembly *assembly; /* of instructions */
};

/* The path of the procedure's own file as it was read, or NULL. */
const char *annotation__own_path(const struct annotation *a);

/* Lines or instructions, those without figures between them; long stretches of these are left out. 0 or -ENOMEM. */
int annotation__print(const struct scope_view *s, const struct annotation *a);

/* The scope of schema quartz.annotate/v1, with the max lines or instructions of most self time; NULL: no memory. */
json_t *annotation__json(const struct qz_report *r, const struct annotation *a, uint32_t max);

/* Marks the max times of most self time: processor time, for spinning has no other. n flags, or NULL. */
bool *annotation__choose(const struct annotation *a, uint32_t max);

#endif
