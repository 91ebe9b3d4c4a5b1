/* SPDX-License-Identifier: GPL-2.0-only */
/* What may grow between two sides of profiles, and by how much: the limits of diff --fail-above. */
#ifndef QUARTZ_CLI_LIMITS_H
#define QUARTZ_CLI_LIMITS_H

#include "cli/comparison/comparison.h"

struct growth_limit {
	const char *text; /* as it was given, borrowed */
	const char
		*subject; /* in text: elapsed, cpu, serial or the name of a row; it ends at ':' */
	int subject_length;
	bool relative;
	double most; /* a fraction of the figure before if relative, else ns */
};

/*
 * Reads [SUBJECT:]PERCENT% or [SUBJECT:]TIME, where a time has a unit. STATUS_USAGE, said on stderr, of anything else. The
 * limit borrows text.
 */
enum status limits__parse(const char *text, struct growth_limit *limit);

/*
 * Says on stderr of each of n scopes what grew by more, and by more than chance, with STATUS_SLOWER then. STATUS_FAILURE
 * if the subject is a row that none of them has.
 */
enum status limits__check(const struct growth_limit *limit, const struct compared_scope *scopes,
			  uint32_t n);

#endif
