/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of another program. */
#ifndef QUARTZ_CLI_SUBPROCESS_H
#define QUARTZ_CLI_SUBPROCESS_H

#include <stddef.h>

/*
 * Runs argv[0], which is looked for in PATH, without a shell, and gives what it writes to standard output in
 * *text, to be freed; its messages are dropped. 0 or -errno: of posix_spawn(3), -ENOENT where there is no such
 * program, -EFBIG when it writes more than limit bytes, and it is ended then, -EIO when it fails, -ENOMEM.
 */
int subprocess__read(const char *const *argv, size_t limit, char **text);

#endif
