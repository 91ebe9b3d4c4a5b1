/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzctl advise --try, and tune: runs a command, or measures a running process, alternately with
 * and without each remedy, or each value of a knob. What helps by more than chance is kept.
 */
#ifndef QUARTZ_CLI_TRIES_H
#define QUARTZ_CLI_TRIES_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/experiment/measured.h"
#include "cli/experiment/runs.h"
#include "core/advise/advise.h"
#include "core/remedies/judge.h"
#include "core/remedies/search.h"
#include "cli/experiment/knob.h"
#include "cli/tries/running.h"
#include "core/remedies/remedies.h"

/* The options of advise that only --try has, and those of tune. */
struct try_config {
	struct config common;
	const char *unit;      /* NULL: not given */
	struct qz_texts knobs; /* knobs to be tried, too; of tune, the knob */
	bool tunes;	       /* it is tune: */
	const char *start;     /* value, NULL: not given */
	int64_t most;	       /* values, 0: not given */
};

#define TRIES_KNOBS 8

/* Most remedies that are tried together, after each has helped by itself. */
#define TRIES_TOGETHER RUNS_CHANGES

/*
 * A remedy is dropped after this many runs that took too long, if they are more than half of its
 * runs.
 */
#define TRIES_SLOW 2

/*
 * One run. For running processes, the time that the work of the first measurement would have taken.
 */
struct try_figures {
	uint64_t elapsed_ns, cpu_ns;
	uint64_t peak_kib;	/* 0: not known */
	uint64_t size;		/* bytes that it printed, */
	unsigned long checksum; /* and their CRC */
};

/* The trial of a remedy, or of several together. */
struct try_trial {
	uint32_t n;
	const struct qz_remedy_use *uses[TRIES_TOGETHER];
	struct qz_pairs pairs;
	double cpu[QZ_JUDGE_PAIRS],
		peak[QZ_JUDGE_PAIRS];	  /* ratios with / without; a peak of 0: not known */
	struct try_figures with, without; /* of the last pair */
	uint64_t with_ns[QZ_JUDGE_PAIRS], without_ns[QZ_JUDGE_PAIRS];
	bool started;
	bool differs;		/* `failure` says that its output differs */
	uint32_t slow;		/* runs that were ended because they took too long */
	char failure[RUNS_WHY]; /* why it was dropped; "": it was not */
};

/* What must be the same with a remedy, besides the exit status: the most exact first. */
enum try_compared {
	TRY_COMPARED_CHECK,
	TRY_COMPARED_OUTPUT,
	TRY_COMPARED_SIZE,
	TRY_COMPARED_STATUS
};

struct tries {
	struct runs runs;
	bool tunes;	 /* values of knobs[0], of which the best stays */
	bool is_running; /* running processes, not a command: */
	struct running running;
	double work; /* events of the first measurement */
	struct knob knobs[TRIES_KNOBS];
	struct measured measured;
	struct qz_advice *advice;
	struct qz_remedies remedies;
	uint32_t n; /* trials: remedies that can be tried here; of tune, values so far */
	struct try_trial *trials;
	struct try_trial together;	/* n is 0: none */
	struct try_figures first, last; /* without a remedy */
	bool fresh;			/* `last` is the most recent run */
	enum try_compared compared;
	uint32_t least; /* pairs of each remedy */
	/* of tune */
	struct qz_search search;
	struct try_config own; /* if the knob has a command of its own */
	char *words[4];
};

/* quartzctl advise --try, and tune. */
enum status tries__run(const struct config *config);

/* Parses --knob. `start` of tune; NULL: not given. The caller frees the knob in any case. */
enum status tries__parse_knob(struct tries *t, const char *text, const char *start, struct knob *k);

/* Adds this value of the knob to the remedies. */
enum status tries__add_value(struct tries *t, const struct knob *k, uint32_t setting,
			     const struct qz_remedy_place *place);

/* ---- tune.c: which values are tried ---- */

/* Finds the knob, and adds its values to the remedies. */
enum status tune__find_values(struct tries *t, const struct qz_remedy_place *place);

/* Adds trials of the values that are worth a try next. False: there are none. */
bool tune__add_values(struct tries *t);

void tune__print_plan(const struct tries *t);
void tune__print_figures(const struct tries *t);

/* Leaves the best value in the process, and says so; a command only gets told. */
enum status tune__leave(struct tries *t);

/* Options that do not go together; NULL: they do. */
const char *tune__find_misuse(const struct config *config);

/* ---- one run ---- */

/*
 * Runs the command without a remedy, and sets t->last. If the result is not RUN_DONE, nothing can
 * be tried any more.
 */
enum run_outcome tries__run_without(struct tries *t);

/*
 * Runs the command with the remedies of a trial, and sets trial->with. RUN_FAILED: trial->failure
 * says why.
 */
enum run_outcome tries__run_with(struct tries *t, struct try_trial *trial);

/* ---- all runs ---- */

/*
 * Takes pairs until all verdicts are known, or the time is over. If it ends early, t->runs.status
 * says why.
 */
void tries__measure(struct tries *t);

struct qz_judgement tries__judge(const struct tries *t, const struct try_trial *trial);

/* Whether it helps by more than chance, and breaks nothing. */
bool tries__helps(const struct tries *t, const struct try_trial *trial);

/* The word for its verdict, or "breaks it". */
const char *tries__verdict(const struct tries *t, const struct try_trial *trial);

/* The trial with the largest gain so far, if only by chance; NULL: none. */
const struct try_trial *tries__leader(const struct tries *t);

/* The median of the `cpu` or `peak` of n pairs; 0: not known. */
double tries__median(const double *ratios, uint32_t n);

/* Duration of a run without a remedy, ns. */
uint64_t tries__run_ns(const struct tries *t);

/* The trial whose remedies should be kept; NULL: nothing helps. */
const struct try_trial *tries__best(const struct tries *t);

/* The least time for all of it if a run takes run_ns. */
uint64_t tries__least_ns(const struct tries *t, uint64_t run_ns);

/* ---- what is shown, and kept ---- */

/* Prints what would be tried (--dry-run). */
void tries__print_plan(const struct tries *t);

/* Prints what will be tried, and for how long, before the runs begin. */
void tries__print_head(const struct tries *t);

/* 0 or -ENOMEM. */
int tries__print_result(const struct tries *t);

/* Schema quartz.try/v1. NULL: memory was short. */
json_t *tries__document(const struct tries *t);

/*
 * The command with the remedies of a trial, as a line to be typed; the caller frees it. NULL:
 * memory was short.
 */
char *tries__line(const struct tries *t, const struct try_trial *trial);

#endif
