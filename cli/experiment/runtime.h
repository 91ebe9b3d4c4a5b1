/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes a language's runtime name the code that it generates, and keep frame pointers in it. */
#ifndef QUARTZ_CLI_EXPERIMENT_RUNTIME_H
#define QUARTZ_CLI_EXPERIMENT_RUNTIME_H

#include "cli/cli.h"

/*
 * Adds the options of the command's runtime to the variable of the environment by which it takes them, and says so in a
 * line on stderr; does nothing where the command is no runtime that is known, or has them already. By its name, or, of a
 * script, its interpreter's. *named: it has added them. STATUS_FAILURE after a line on stderr: no memory.
 */
enum status runtime__name_code(char *const *command, bool *named);

#endif
