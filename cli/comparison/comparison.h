/* SPDX-License-Identifier: GPL-2.0-only */
/* What diff shows of one scope, as text and for programs. */
#ifndef QUARTZ_CLI_COMPARISON_H
#define QUARTZ_CLI_COMPARISON_H

#include <jansson.h>

#include "cli/render/output.h"
#include "core/compare/compare.h"

struct compared_scope {
	const struct qz_identities *ids;
	struct qz_run **before, **after; /* as many as comparison says */
	struct qz_comparison *comparison;
	struct qz_comparison *classes; /* rows of QZ_IDENTITY_CLASS alone, by processor time */
	struct qz_comparison *waits;   /* rows of QZ_IDENTITY_WAITS alone, by blocked time */
};

/* 0 or -ENOMEM. */
int comparison__print(const struct compared_scope *s, const struct output *out,
		      const struct config *config);

/* NULL with ENOMEM. */
json_t *comparison__json(const struct compared_scope *s, uint32_t max_rows);

/*
 * The same for a page: with "headline", the first line, and "notes", an array of lines: what the commands are, what is not the
 * same, and how many runs there are.
 */
json_t *comparison__html_json(const struct compared_scope *s, const struct config *config);

/* That "headline", and those "notes"; 0 or -ENOMEM. */
void comparison__print_headline(const struct compared_scope *s, const struct output *out,
				const struct config *config);
int comparison__print_notes(const struct compared_scope *s, const struct output *out,
			    const struct config *config);

#endif
