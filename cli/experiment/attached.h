/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measured times of processes that run already, on some of the processors each, under a load that stays the same: what a
 * run of a command is elsewhere. How much was done is counted by a command of the user.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_ATTACHED_H
#define QUARTZ_CLI_EXPERIMENT_ATTACHED_H

#include "cli/cli.h"
#include "cli/experiment/scheduling.h"
#include "cli/experiment/guard.h"
#include "cli/experiment/trial.h"

struct attached {
	const struct config *config;
	const struct processors *on;
	const char *user; /* whom --events is run as, of programs__user */
	struct scheduling before;
	struct guard guard;
};

/*
 * The caller closes it in any case, which puts everything back. If this process is killed
 * before, the guard does.
 */
enum status attached__open(struct attached *a, const struct config *config,
			   const struct processors *on, const char *user);
void attached__close(struct attached *a);

/* Measures them on so many processors into this file. *rate is of events per second. */
enum trial_outcome attached__measure(struct attached *a, uint32_t processors, const char *file,
				     double *rate, int *status);

#endif
