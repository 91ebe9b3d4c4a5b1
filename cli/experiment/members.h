/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes belong together: those of a systemd unit or of a container, and the children of a process. */
#ifndef QUARTZ_CLI_EXPERIMENT_MEMBERS_H
#define QUARTZ_CLI_EXPERIMENT_MEMBERS_H

#include "cli/cli.h"

/*
 * Appends to *roots the processes of the unit, with or without its ".service", or of the container, by its id or the beginning
 * of it, whose parents are not of it: their trees are all of it. One of the two is NULL. STATUS_FAILURE after a line on stderr:
 * there are none.
 */
enum status members__find(const char *unit, const char *container, struct qz_integers *roots);

/* Appends the processes of a systemd unit, which may be none. Prints nothing. 0 or -errno. */
int members__of_unit(const char *unit, struct qz_integers *roots);

/* Numbers of processes, with this between them, to be freed; NULL: memory was short. */
char *members__list(const struct qz_integers *pids, char between);

/* Processor time that these processes have had, but those that have ended. */
double members__cpu_seconds(const struct qz_integers *pids);

/* The processes of these trees: *all, to be freed, is made anew. 0 or -errno. */
int members__of_trees(const struct qz_integers *roots, struct qz_integers *all);

/* Says of each of these processes how many children it has that are none of them, if any, and how to take them in. */
void members__say_left_out(const struct qz_integers *pids);

#endif
