/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that measuring needs, and as whom a command is run. */
#ifndef QUARTZ_CLI_EXPERIMENT_PROGRAMS_H
#define QUARTZ_CLI_EXPERIMENT_PROGRAMS_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/cli.h"

/*
 * The path of a library of Quartz, found in the same way. It is absolute, since a command may change its directory; valid
 * until the next call.
 */
const char *programs__library(const char *name);

void programs__quartzd(char path[PATH_MAX]);

/*
 * With sudo, only measuring needs root. The program runs as the user who called sudo, because its
 * behaviour depends on its user, and its files should belong to that user; a line on stderr says that `what` does. *user is
 * its name or number, borrowed; NULL: the caller's. STATUS_USAGE after a line on stderr: there is no such user.
 */
enum status programs__user(const struct config *config, const char *what, const char **user);

/*
 * In a child that is to execute what `user` (of programs__user) runs: it is that user's for good, with the HOME, USER, LOGNAME and
 * SHELL of a login. 0 or -errno.
 */
int programs__become(const char *user);

/*
 * In a child that is to run a command once more: a file that is standard input is read from its beginning; from anything else
 * there is nothing to read.
 */
void programs__set_input(void);

/* In memory that is shared with a process which undoes what a line does, if this process is killed. */
struct programs_mark {
	pid_t line; /* that runs, or is about to; 0: none */
	bool ended; /* none begins any more */
};

/*
 * Runs a line for sh as `user`, with its output to be read from *out. `mark`: NULL, or where it says that it runs, which is for the
 * caller to take back. Its process id, which programs__end takes, or -errno.
 */
pid_t programs__read(const char *line, const char *user, volatile struct programs_mark *mark,
		     FILE **out);

/* Closes `out` and waits for the end: a status as of waitpid(2). */
int programs__end(pid_t pid, FILE *out);

/* Runs the line of --events as programs__read does; *value is the first number that it prints. False: the error was printed. */
bool programs__ask(const char *line, const char *user, double *value);

#endif
