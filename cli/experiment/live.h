/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running program whose knob is tried: a value is set, and what the program does with it is measured for a while, by its
 * events (quartz_event) or by its effective parallelism.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_LIVE_H
#define QUARTZ_CLI_EXPERIMENT_LIVE_H

#include "cli/cli.h"
#include "cli/experiment/guard.h"
#include "cli/experiment/knob.h"
#include "cli/experiment/own_directory.h"
#include "cli/knobs/knob_page.h"

enum tune_measure { MEASURE_TIME, MEASURE_EVENTS, MEASURE_PARALLELISM }; /* as --by has them */

struct live {
	struct knob_page page;
	const struct qz_knob *knob; /* in the copy of the page; NULL until live__choose */
	struct runs *runs;
	int64_t before;		 /* what the knob had */
	struct guard guard;	 /* which gives that back */
	struct qz_integers pids; /* one, which is `pid` */
	int64_t pid;
	enum tune_measure by;
	uint64_t duration_ns; /* of one measurement */
	bool counts;	      /* the program was asked to count its events */
	bool ended;	      /* so that nothing can be set any more; the error was printed */
	bool stuck;	      /* it does not take values in time; the error was printed */
	struct own_directory directory; /* for profiles */
};

/* Opens the knobs of the process. To be closed in any case. */
enum status live__open(struct live *l, struct runs *r);
void live__close(struct live *l);

/* "NAME" or "NAME:RANGE": which knob, and the values of it that are to be tried. */
enum status live__choose(struct live *l, const char *text, struct knob *k);

/* From now on a process of its own gives back what the knob had, if this one is killed. */
enum status live__protect(struct live *l);

/* Sets the value, and lets the program get used to it. RUN_FAILED: the process does not take it. */
enum run_outcome live__set(struct live *l, int64_t value, char why[RUNS_WHY]);

/* How much it does in a second with the value that is set, > 0. RUN_FAILED: nothing. */
enum run_outcome live__measure(struct live *l, double *rate, char why[RUNS_WHY]);

/* Sets the value at the end, also after a signal. Other than STATUS_OK: the error was printed, here or by an earlier call. */
enum status live__leave(struct live *l, int64_t value);

#endif
