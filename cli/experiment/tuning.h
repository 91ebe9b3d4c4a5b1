/* SPDX-License-Identifier: GPL-2.0-only */
/* One search for the best setting of a knob, and what is shown of it, as text or as JSON. */
#ifndef QUARTZ_CLI_EXPERIMENT_TUNING_H
#define QUARTZ_CLI_EXPERIMENT_TUNING_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/experiment/knob.h"
#include "cli/experiment/live.h"
#include "cli/experiment/runs.h"
#include "core/tune/tune.h"

struct tuning {
	struct runs runs;
	struct knob knob;
	struct live live;     /* of a QZ_REMEDY_KNOB */
	enum tune_measure by; /* costs are seconds, or one over what is done in a second */
	struct qz_tune *search;
	int64_t costs;	/* of a trial */
	json_t *trials; /* NULL: as text */
};

struct tuning_trial {
	const struct qz_tune_step *step;
	uint32_t n;
	double costs[QZ_TUNE_COSTS];
	char failure[RUNS_WHY]; /* why it has no costs, or fewer; "": it has all */
};

/* Also prints the plan, so that the user knows at the first trial how long it takes at most. */
void tuning__print_plan(const struct tuning *t);
void tuning__print_head(const struct tuning *t);

/* False: memory was short. */
bool tuning__show_trial(struct tuning *t, const struct tuning_trial *trial);

/* What is to be used, after the search; the start must have been measured. */
enum status tuning__show_result(const struct tuning *t, const struct qz_tune_result *r);

#endif
