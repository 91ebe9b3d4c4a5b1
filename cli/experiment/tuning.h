/* SPDX-License-Identifier: GPL-2.0-only */
/* One search for the best setting of a knob, and what is shown of it, as text or as JSON. */
#ifndef QUARTZ_CLI_EXPERIMENT_TUNING_H
#define QUARTZ_CLI_EXPERIMENT_TUNING_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/experiment/guard.h"
#include "cli/experiment/knob.h"
#include "cli/experiment/live.h"
#include "cli/experiment/processors.h"
#include "core/tune/tune.h"

struct tuning {
	const struct config *config;
	struct processors on;
	const char *user; /* whom a command is run as, of programs__user */
	struct knob knob;
	struct live live;     /* of a KNOB_PROCESS */
	struct guard guard;   /* of a KNOB_PROCESS */
	enum tune_measure by; /* costs are seconds, or one over what is done in a second */
	struct qz_tune *search;
	int64_t runs;
	uint64_t limit_ns, deadline;
	json_t *trials; /* NULL: as text */
	bool over;	/* no time is left for another trial */
	enum status status;
};

struct tuning_trial {
	const struct qz_tune_step *step;
	uint32_t n;
	double costs[QZ_TUNE_COSTS];
	char failure[96]; /* why it has no costs, or fewer; "": it has all */
};

/* Also the plan, so that who looks at the first trial knows how long it takes at most. */
void tuning__print_plan(const struct tuning *t);
void tuning__print_head(const struct tuning *t);

/* False: memory was short. */
bool tuning__show_trial(struct tuning *t, const struct tuning_trial *trial);

/* What is to be used, after the search; the start must have been measured. */
enum status tuning__show_result(const struct tuning *t, const struct qz_tune_result *r);

#endif
