/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that commands write what they show to. */
#ifndef QUARTZ_CLI_OUTPUT_FILE_H
#define QUARTZ_CLI_OUTPUT_FILE_H

#include <stdio.h>

/* Writes all of it: 0 or -errno. What the stream itself reports need not be given. */
typedef int output_file_put(FILE *out, void *context);

/*
 * Writes a file that appears whole or not at all, in the directory that qz_save_file__directory finds. A regular file or a link
 * of that name is replaced, never followed, and a file keeps its owner and mode; a new one has the mode of a snapshot. A
 * device, a pipe or an open file, as /dev/stdout, is written to, where no other user can have put it. 0 or -errno, which
 * qz_save_file__reason explains.
 */
int output_file__write(const char *path, output_file_put *put, void *context);

#endif
