/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes a language's runtime name the code that it generates, and keep frame pointers in it. */
#ifndef QUARTZ_CLI_EXPERIMENT_RUNTIME_H
#define QUARTZ_CLI_EXPERIMENT_RUNTIME_H

#include "cli/cli.h"

/*
 * Adds the options of each runtime that the command names to the variable of the environment by which it takes them, and says
 * so in a line on stderr; does nothing for one that has them already. A command names a runtime that it is, that is a word of its
 * arguments ("sh -c 'java ...'"), or of a script among them: of its first line, and of all of it if a shell runs it. To others the
 * variable says nothing. *named: it has added some. STATUS_FAILURE after a line on stderr: no memory.
 */
enum status runtime__name_code(char *const *command, bool *named);

#endif
