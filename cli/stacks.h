/* SPDX-License-Identifier: GPL-2.0-only */
/* How the walks of stacks ended: the keys of stack_ends of a scope. */
#ifndef QUARTZ_CLI_STACKS_H
#define QUARTZ_CLI_STACKS_H

#include "cli/cli.h"

/* Whether a walk that ended in this way came to the outermost frame. */
bool stacks__are_whole(const char *end);

/* quartzctl doctor PID. */
enum status stacks__examine(const struct config *config);

#endif
