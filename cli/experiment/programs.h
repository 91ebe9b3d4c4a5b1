/* SPDX-License-Identifier: GPL-2.0-only */
/* The programs that measuring needs, and as whom a command is run. */
#ifndef QUARTZ_CLI_EXPERIMENT_PROGRAMS_H
#define QUARTZ_CLI_EXPERIMENT_PROGRAMS_H

#include <limits.h>

#include "cli/cli.h"

/*
 * Searches beside quartzctl (build tree), then relative to it (installed), else uses the usual
 * place.
 */
void programs__find(const char *const places[2], const char *usual, char path[PATH_MAX]);

void programs__quartzd(char path[PATH_MAX]);

/*
 * With sudo, only measuring needs root. The program runs as the user who called sudo, because its
 * behaviour depends on its user, and its files should belong to that user. NULL: as who calls. Borrowed.
 */
const char *programs__user(const struct config *config);

#endif
