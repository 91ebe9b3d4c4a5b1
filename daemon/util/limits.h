/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of quartzd's process (setrlimit(2)), and which of them is behind a failure. */
#ifndef QUARTZ_DAEMON_LIMITS_H
#define QUARTZ_DAEMON_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Raises the limit of open files as far as that is allowed. -EMFILE after writing a line: it is too small
 * for anything to be measured. A small one is warned of.
 */
int limits__raise_files(char *error, size_t size);

/*
 * Whether a descriptor may stay open for what is better to have: the last ones that the limit allows are left to
 * what a run cannot do without, as to save it.
 */
bool limits__has_room(int fd);

/*
 * Appends to a line about a failure what limit is behind it, and the remedy, where one is: libraries do not
 * always say so. To be asked before what was opened is closed.
 */
void limits__explain(int err, char *line, size_t size);

#endif
