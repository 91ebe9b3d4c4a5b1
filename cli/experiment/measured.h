/* SPDX-License-Identifier: GPL-2.0-only */
/* A command or a running process that was measured once, to know what limits it. */
#ifndef QUARTZ_CLI_EXPERIMENT_MEASURED_H
#define QUARTZ_CLI_EXPERIMENT_MEASURED_H

#include "cli/experiment/trial.h"
#include "cli/query/view.h"

struct measured {
	struct config config; /* of the view, which borrows it: this must not move */
	struct view view;     /* of the profile, which is in memory alone */
};

/*
 * Runs the trial, whose `file` is not used. Needs root. Other than STATUS_OK: the error was printed, for instance that
 * there is nothing to `verb`. To be freed in any case.
 */
enum status measured__take(struct measured *m, const struct config *config, const struct trial *t,
			   const char *verb);

/* Reads the profile that the configuration names instead. Result as of measured__take. */
enum status measured__read(struct measured *m, const struct config *config);

void measured__free(struct measured *m);

#endif
