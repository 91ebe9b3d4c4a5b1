/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of a source file that a profile names. The name is a stranger's: only a regular file of a
 * bounded size is read, with the rights of the caller, and its text is to be escaped before it is printed.
 */
#ifndef QUARTZ_CLI_SOURCE_FILE_H
#define QUARTZ_CLI_SOURCE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

struct source_file {
	char *path; /* that was read; of one that is not there, the first that was looked for */
	bool newer; /* it changed after the profile was begun */
	uint32_t n; /* lines */
	char **lines;
	char *text; /* which has the lines */
};

/*
 * Reads what `file` is called in the profile. --strip-prefix is cut off its front; then --source-dir has
 * it, under all of its path or under the last parts of it, the longest first. began_ns is that of the profile,
 * CLOCK_REALTIME. 0 or -errno: ENOENT and others of open(2), -EINVAL no regular file, -EFBIG, -ENOMEM. The
 * file is to be freed in any case.
 */
int source_file__read(struct source_file *f, const struct config *config, const char *file,
		      uint64_t began_ns);
void source_file__free(struct source_file *f);

/* The text of a line, from 1; "" when there is none. */
const char *source_file__line(const struct source_file *f, uint32_t line);

/* Why it was not read, as words. */
const char *source_file__error(int err);

#endif
