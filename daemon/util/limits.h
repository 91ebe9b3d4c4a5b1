/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of quartzd's process (setrlimit(2)), and which of them caused a failure. */
#ifndef QUARTZ_DAEMON_LIMITS_H
#define QUARTZ_DAEMON_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Raises the limits of open files, and of the size of a file, as far as that is allowed. -EMFILE after writing a line: too few
 * files for anything to be measured. A small number is warned of.
 */
int limits__raise(char *error, size_t size);

/* Those that were there before, for a process whose program is not of Quartz. Other processes are as they were. */
void limits__restore(void);

/* The descriptor (or -errno) if it may stay open; else it is closed, and -EMFILE. */
int limits__spare(int fd);

/*
 * Appends to a line about a failure the limit that caused it and the remedy, if there is one: libraries do not
 * always say so. To be asked before what was opened is closed.
 */
void limits__explain(int err, char *line, size_t size);

#endif
