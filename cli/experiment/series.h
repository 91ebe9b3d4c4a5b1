/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs of a command on each of some numbers of processors, interleaved, so that what changes in the meantime reaches all
 * of them alike: each round has one run on each number, in turns upwards and downwards.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_SERIES_H
#define QUARTZ_CLI_EXPERIMENT_SERIES_H

#include "cli/cli.h"
#include "cli/experiment/profile_set.h"

/*
 * Runs all, and adds the profile of each run that has ended to the set. Other than STATUS_OK: the series ended early and
 * the error was printed; the set has what was measured by then.
 */
enum status series__run(const struct config *config, struct profile_set *set);

#endif
