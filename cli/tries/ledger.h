/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was tried is kept, so that it can be seen how often advice was right: a file of JSON for each try in
 * $XDG_DATA_HOME/quartz/tries, or ~/.local/share/quartz/tries. Nothing of it is sent anywhere.
 */
#ifndef QUARTZ_CLI_LEDGER_H
#define QUARTZ_CLI_LEDGER_H

#include <jansson.h>

#include "cli/cli.h"

/* Writes a document there as this user, of programs__user. That it could not is said, and no reason to fail. */
void ledger__keep(const json_t *document, const char *user);

/* quartzctl advise --record. With sudo, this process becomes the user who called it for good. */
enum status ledger__show(const struct config *config);

#endif
