/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Advice that is tried: a command is run, or a running process measured, with and without each remedy, in turns, and what remains is what
 * has helped by more than chance.
 */
#ifndef QUARTZ_CLI_TRIES_H
#define QUARTZ_CLI_TRIES_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/experiment/measured.h"
#include "cli/experiment/runs.h"
#include "core/advise/advise.h"
#include "core/remedies/judge.h"
#include "cli/experiment/knob.h"
#include "cli/tries/running.h"
#include "core/remedies/remedies.h"

/* What advise takes of its own, for --try. */
struct try_config {
	struct config common;
	const char *unit;      /* NULL: not given */
	struct qz_texts knobs; /* of running processes, to be tried, too */
};

#define TRIES_KNOBS 8

/* Remedies that help by themselves and are tried together at most. */
#define TRIES_TOGETHER RUNS_CHANGES

/* Runs of a remedy that take too long until it is dropped, if they are more than half of its runs. */
#define TRIES_SLOW 2

/* One run; of running processes, as if one were what they did in the first measurement. */
struct try_figures {
	uint64_t elapsed_ns, cpu_ns;
	uint64_t peak_kib;	/* 0: not known */
	uint64_t size;		/* of what it has printed, */
	unsigned long checksum; /* and of its bytes */
};

/* A remedy, or several together. */
struct try_trial {
	uint32_t n;
	const struct qz_remedy_use *uses[TRIES_TOGETHER];
	struct qz_pairs pairs;
	double cpu[QZ_JUDGE_PAIRS],
		peak[QZ_JUDGE_PAIRS];	  /* with, of without; a peak of 0: not known */
	struct try_figures with, without; /* of the last pair */
	uint64_t with_ns[QZ_JUDGE_PAIRS], without_ns[QZ_JUDGE_PAIRS];
	bool started;
	bool differs;		/* `failure` is that its output is another one */
	uint32_t slow;		/* runs that were ended, since they took too long */
	char failure[RUNS_WHY]; /* why it was dropped; "": it was not */
};

/* What has to be the same with a remedy, besides the exit status. */
enum try_compared {
	TRY_COMPARED_CHECK,
	TRY_COMPARED_OUTPUT,
	TRY_COMPARED_SIZE,
	TRY_COMPARED_STATUS
};

struct tries {
	struct runs runs;
	bool is_running; /* it is no command: */
	struct running running;
	double work; /* events, of the first measurement */
	struct knob knobs[TRIES_KNOBS];
	struct measured measured;
	struct qz_advice *advice;
	struct qz_remedies remedies;
	uint32_t n; /* remedies that can be tried here */
	struct try_trial *trials;
	struct try_trial together;	/* n 0: there is none */
	struct try_figures first, last; /* without a remedy */
	bool fresh;			/* `last` was the last run of all */
	enum try_compared compared;
	uint32_t least; /* pairs */
};

/* quartzctl advise --try. */
enum status tries__run(const struct config *config);

/* ---- one run ---- */

/* Runs the command as it is, and sets t->last. Other than RUN_DONE: nothing can be tried any more. */
enum run_outcome tries__run_without(struct tries *t);

/* Runs it with a trial's remedies, and sets trial->with. RUN_FAILED: trial->failure says why. */
enum run_outcome tries__run_with(struct tries *t, struct try_trial *trial);

/* ---- all runs ---- */

/* Takes pairs until all is known, or the time is over. t->runs.status is set where that ended before. */
void tries__measure(struct tries *t);

struct qz_judgement tries__judge(const struct tries *t, const struct try_trial *trial);

/* By more than chance, and it breaks nothing. */
bool tries__helps(const struct tries *t, const struct try_trial *trial);

/* The word of its judgement, or "breaks it". */
const char *tries__verdict(const struct tries *t, const struct try_trial *trial);

/* Of `cpu` or `peak` of n pairs; 0: not known. */
double tries__median(const double *ratios, uint32_t n);

/* How long a run without a remedy takes. */
uint64_t tries__run_ns(const struct tries *t);

/* What to keep, NULL: nothing helps. */
const struct try_trial *tries__best(const struct tries *t);

/* Time that is needed at least, if a run takes so long. */
uint64_t tries__least_ns(const struct tries *t, uint64_t run_ns);

/* ---- what is shown, and kept ---- */

/* What would be done. */
void tries__print_plan(const struct tries *t);

/* Who is shown the result knows by then what is tried, and for how long. */
void tries__print_head(const struct tries *t);

/* 0 or -ENOMEM. */
int tries__print_result(const struct tries *t);

/* Schema quartz.try/v1. NULL: memory was short. */
json_t *tries__document(const struct tries *t);

/* The command with these remedies as a line that can be typed, to be freed. NULL: memory was short. */
char *tries__line(const struct tries *t, const struct try_trial *trial);

#endif
