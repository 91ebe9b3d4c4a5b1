/* SPDX-License-Identifier: GPL-2.0-only */
/* Which knob is worth a try, by what limits a command: it is measured once, on all processors. */
#ifndef QUARTZ_CLI_EXPERIMENT_PROPOSAL_H
#define QUARTZ_CLI_EXPERIMENT_PROPOSAL_H

#include "cli/cli.h"
#include "cli/experiment/processors.h"

struct proposal {
	const char *knob; /* for knob__parse; NULL: none helps */
	char *why;	  /* the finding, escaped; NULL: there is none */
};

/* Other than STATUS_OK: it was said why. Needs root. */
enum status proposal__make(struct proposal *p, const struct config *config,
			   const struct processors *on);
void proposal__free(struct proposal *p);

#endif
