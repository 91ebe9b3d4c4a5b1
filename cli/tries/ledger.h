/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the results of tries, to show how often advice was right: a JSON file for each try in
 * $XDG_DATA_HOME/quartz/tries, or ~/.local/share/quartz/tries. Nothing is sent anywhere.
 */
#ifndef QUARTZ_CLI_LEDGER_H
#define QUARTZ_CLI_LEDGER_H

#include <jansson.h>

#include "cli/cli.h"

/*
 * Writes a document there as the user of programs__user(). A failure is reported on stderr, and
 * otherwise ignored.
 */
void ledger__keep(const json_t *document, const char *user);

/*
 * quartzctl advise --record. With sudo, this process becomes the user who called it, permanently.
 */
enum status ledger__show(const struct config *config);

#endif
