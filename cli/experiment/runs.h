/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Something is changed from outside, and what that costs is measured, for as long as there is time: tune and advise --try.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_RUNS_H
#define QUARTZ_CLI_EXPERIMENT_RUNS_H

#include "cli/cli.h"
#include "cli/experiment/processors.h"
#include "cli/experiment/timed_run.h"
#include "core/remedies/remedies.h"

#define RUNS_TOO_LONG                                                                              \
	4 /* times as much as unchanged; of a command, and a second: such a change is no good */
#define RUNS_CHANGES 8 /* at a time */
#define RUNS_WHY     96

/* One thing that is set. */
struct change {
	enum qz_remedy_way way;
	const char *
		text; /* variables, with blanks between; of QZ_REMEDY_COMMAND and _ARGUMENT the line. Borrowed */
	long value; /* number of processors, nice value, of a knob */
};

enum run_outcome {
	RUN_DONE,
	RUN_FAILED, /* with this change, and it was written why */
	RUN_SLOW,   /* it would have taken too long; the reason was written */
	RUN_ENDED, /* a signal came, or nothing can be measured any more: `status`; or the time is `over` */
};

struct runs {
	const struct config *config;
	struct processors on;
	const char *user; /* whom a command is run as, of programs__user */
	uint64_t limit_ns, deadline;
	bool over;	    /* no time is left */
	enum status status; /* of what has ended them */
};

/*
 * `limit_ns`: where none is given. `what` is run as the user that it is to be, NULL: nothing is run. To be opened between trial__watch and
 * trial__unwatch; nothing is to be closed.
 */
enum status runs__open(struct runs *r, const struct config *config, uint64_t limit_ns,
		       const char *what);

/* From now on time runs. */
void runs__begin(struct runs *r);

/* More than 0. */
uint64_t runs__left_ns(const struct runs *r);

/* RUN_ENDED, by the signal that came, or else since nothing can be measured any more. */
enum run_outcome runs__end(struct runs *r);

/*
 * Runs a command with these changes to its end. `run` has what is not changed. `usual_ns`: how long it takes as it is; 0: that is not
 * known.
 */
enum run_outcome runs__time(struct runs *r, const struct change *changes, uint32_t n,
			    uint64_t usual_ns, struct timed_run *run, struct timed_result *result,
			    char why[RUNS_WHY]);

#endif
