/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of a command: its options and operands, and what of these does not go together. */
#ifndef QUARTZ_CLI_COMMANDS_PARSE_H
#define QUARTZ_CLI_COMMANDS_PARSE_H

#include "cli/cli.h"

/* Prints its help text. */
void parse__help(const struct command *c);

/* argv[0] is the command. */
enum status parse__command(const struct command *c, int argc, char **argv, struct config *config);

#endif
