/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile of a part of the time that quartzd has measured: the slices that it has saved, put together. */
#ifndef QUARTZ_CLI_HISTORY_H
#define QUARTZ_CLI_HISTORY_H

#include "cli/cli.h"
#include "core/model/profile.h"

/* Whether the configuration asks for one. */
bool history__is_wanted(const struct config *config);

/* Reads all slices that have any of the time asked for into *profile, which the caller frees. */
enum status history__read(const struct config *config, struct qz_profile **profile);

#endif
