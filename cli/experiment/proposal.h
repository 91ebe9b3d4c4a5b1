/* SPDX-License-Identifier: GPL-2.0-only */
/* Which knob is worth a try, by what limits a command or a running process: it is measured once, on all processors. */
#ifndef QUARTZ_CLI_EXPERIMENT_PROPOSAL_H
#define QUARTZ_CLI_EXPERIMENT_PROPOSAL_H

#include "cli/cli.h"
#include "cli/experiment/processors.h"
#include "quartz/knobs.h"

struct proposal {
	const char *knob; /* for knob__parse, or the name of one of the process; NULL: none helps */
	char *why;	  /* the finding, escaped; NULL: there is none */
};

/*
 * `knobs`: of process config->pid, which is measured then, and one of which is proposed; valid, and valid for as long as the
 * proposal is. NULL: the command is. Needs root.
 */
enum status proposal__make(struct proposal *p, const struct config *config,
			   const struct processors *on, const struct qz_knobs *knobs,
			   const char *user);
void proposal__free(struct proposal *p);

#endif
