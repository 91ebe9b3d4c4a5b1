/* SPDX-License-Identifier: GPL-2.0-only */
/* One procedure's self time by source line or by instruction, as text and as JSON. */
#ifndef QUARTZ_CLI_ANNOTATION_H
#define QUARTZ_CLI_ANNOTATION_H

#include <jansson.h>

#include "cli/code/disassembly.h"
#include "cli/code/source_file.h"
#include "cli/render/scope_view.h"
#include "core/source/code_times.h"

struct annotation {
	const struct qz_row *row; /* of the procedure */
	uint32_t n;
	struct qz_code_time *times;	    /* all that have figures */
	const struct source_file *source;   /* of lines; without lines where it is not there */
	const struct disassembly *assembly; /* of instructions */
};

/* Lines or instructions, those without figures between them; long stretches of these are left out. 0 or -ENOMEM. */
int annotation__print(const struct scope_view *s, const struct annotation *a);

/* The scope of schema quartz.annotate/v1, with the max lines or instructions of most self time; NULL: no memory. */
json_t *annotation__json(const struct qz_report *r, const struct annotation *a, uint32_t max);

/* Marks the max times of most self time: processor time, for spinning has no other. n flags, or NULL. */
bool *annotation__choose(const struct annotation *a, uint32_t max);

#endif
