/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The changes between two sides of profiles as one JSON document of schema quartz.diff-page/v1, for the page: rows of the
 * comparison, and the stacks of both sides in one tree, whose frames are matched like the rows. doc/page.md describes its
 * members.
 */
#ifndef QUARTZ_CORE_HTML_CHANGES_H
#define QUARTZ_CORE_HTML_CHANGES_H

#include <jansson.h>
#include <stdio.h>

#include "core/compare/compare.h"

/* One scope in all its runs. All is borrowed. */
struct qz_html_compared {
	json_t *comparison; /* a scope of quartz.diff/v1 and more, whose rows are those of `rows` */
	const struct qz_comparison *rows;
	const struct qz_report *const *reports; /* those before, then those after */
};

/*
 * Prints the document of n scopes, and a newline. Identities that no row has are added to ids. `profiles` is as in
 * quartz.diff/v1, borrowed. 0, -ENOMEM or -E2BIG; write errors stay in out.
 */
int qz_html_changes__write(FILE *out, struct qz_identities *ids, json_t *profiles,
			   const struct qz_html_compared *scopes, uint32_t n);

#endif
