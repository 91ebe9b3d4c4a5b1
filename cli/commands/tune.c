/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl tune: which setting of a knob is the best, by runs of a command or by what a running program does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/experiment/measured.h"
#include "cli/experiment/trial.h"
#include "cli/experiment/tuning.h"
#include "cli/render/output.h"
#include "core/advise/advise.h"
#include "core/util/clock.h"

struct tune_config {
	struct config common;
	const char *knob, *start; /* NULL: not given */
	int64_t trials;		  /* 0: the default */
};

#define SECOND		1000000000ull
#define STANDARD_RUNS	3
#define STANDARD_TRIALS 12
#define STANDARD_LIMIT	(600 * SECOND)
#define LOOK_TIME	(3 * SECOND) /* for which a process is measured, to choose its knob */

/* ---- trials ---- */

static bool is_live(const struct tuning *t)
{
	return t->runs.config->pid;
}

/* INFINITY: it was not measured. */
static double start_cost(const struct tuning *t)
{
	return qz_tune__cost(&t->search->settings[t->search->start]);
}

static enum run_outcome time_command(struct tuning *t, uint32_t setting, double *cost,
				     char why[RUNS_WHY])
{
	struct timed_run run = {.command = t->runs.config->command};
	struct change change = knob__change(&t->knob, setting);
	double usual = start_cost(t);
	struct timed_result result = {0};
	enum run_outcome outcome = runs__time(&t->runs, &change, 1,
					      isfinite(usual) ? (uint64_t)(usual * SECOND) : 0,
					      &run, &result, why);

	*cost = (double)result.elapsed_ns / SECOND;
	return outcome;
}

/* RUN_SLOW: it does so much less than at the start that the rest of the trial would only do harm. */
static enum run_outcome measure_process(struct tuning *t, double *cost, char why[RUNS_WHY])
{
	enum run_outcome outcome;
	double rate = 0;

	t->runs.over = qz_clock__now() + t->live.duration_ns > t->runs.deadline;
	outcome = t->runs.over ? RUN_ENDED : live__measure(&t->live, &rate, why);
	*cost = 1 / rate;
	if (outcome != RUN_DONE || *cost <= RUNS_TOO_LONG * start_cost(t))
		return outcome;
	snprintf(why, RUNS_WHY, "left at once, since it did less than a quarter of the start");
	return RUN_SLOW;
}

/* False: interrupted, or there is no time left, so that nothing is known of this setting. */
static bool measure(struct tuning *t, struct tuning_trial *trial)
{
	uint32_t setting = trial->step->setting;
	enum run_outcome outcome = RUN_DONE;

	if (is_live(t))
		outcome = live__set(&t->live, t->knob.values[setting], trial->failure);
	for (int64_t i = 0; outcome == RUN_DONE && i < t->costs; i++) {
		double cost;

		outcome = is_live(t) ? measure_process(t, &cost, trial->failure)
				     : time_command(t, setting, &cost, trial->failure);
		if (outcome == RUN_DONE || (outcome == RUN_SLOW && is_live(t)))
			trial->costs[trial->n++] = cost;
	}
	if (outcome == RUN_FAILED || (outcome == RUN_SLOW && !is_live(t)))
		trial->n = 0;
	return outcome != RUN_ENDED;
}

static void run_trials(struct tuning *t)
{
	struct qz_tune_step step;

	while (t->runs.status == STATUS_OK && !t->runs.over && qz_tune__next(t->search, &step)) {
		struct tuning_trial trial = {.step = &step};

		if (!measure(t, &trial))
			break;
		if (!tuning__show_trial(t, &trial))
			t->runs.status = out_of_memory();
		qz_tune__tell(t->search, step.setting, trial.costs, trial.n);
		t->runs.over = qz_clock__now() >= t->runs.deadline;
	}
}

/* ---- the result ---- */

static enum status fail_to_start(const struct tuning *t)
{
	const char *name = t->search->settings[t->search->start].name;

	if (t->runs.status != STATUS_OK)
		return t->runs.status;
	complain("%s %s, the start, could not be measured%s%s", t->knob.name, name,
		 t->runs.over ? " in the time of --limit" : "",
		 is_live(t) ? "" : "; --start names another one");
	return STATUS_FAILURE;
}

/* A search that ended early ends where it began. */
static enum status leave_process(const struct tuning *t, uint32_t setting)
{
	enum status status;

	if (!is_live(t))
		return STATUS_OK;
	if (t->runs.status != STATUS_OK)
		setting = t->search->start;
	status = live__leave((struct live *)&t->live, t->knob.values[setting]);
	if (status == STATUS_OK && !t->trials)
		printf("process %d has %s %s%s\n", t->live.page.pid, t->knob.name,
		       t->knob.names[setting],
		       setting == t->search->start ? ", as at the start" : "");
	return status;
}

static enum status show_result(struct tuning *t)
{
	bool measured = t->search->settings[t->search->start].n;
	struct qz_tune_result r = {.setting = t->search->start};
	enum status status, left;

	if (measured)
		r = qz_tune__result(t->search);
	status = measured ? tuning__show_result(t, &r) : fail_to_start(t);
	left = leave_process(t, r.setting);
	if (t->runs.status != STATUS_OK)
		return t->runs.status;
	return status == STATUS_OK ? left : status;
}

/* ---- the command ---- */

/* What does not go together with a process; NULL: nothing. */
static const char *check_process(const struct config *config)
{
	if (*config->command)
		return "--pid takes no COMMAND";
	if (OWN(tune_config, config)->start)
		return "a running process starts with what it has: --start is not for --pid";
	return config->measure == MEASURE_TIME ? "--by time is how long a COMMAND takes: not for "
						 "--pid"
					       : NULL;
}

static const char *check_command(const struct config *config)
{
	const char *colon =
		OWN(tune_config, config)->knob ? strchr(OWN(tune_config, config)->knob, ':') : NULL;
	bool whole = colon && strchr(colon + 1, ':');

	if (config->measure > MEASURE_TIME || config->duration)
		return "--by events, --by parallelism and --duration are of a running process: "
		       "they "
		       "need --pid";
	if (whole && *config->command)
		return "a knob with a command of its own takes no COMMAND";
	if (!whole && !*config->command)
		return OWN(tune_config, config)->knob ? "the knob needs a COMMAND, or a --pid"
						      : "no --knob given, nor a COMMAND or a --pid";
	return NULL;
}

static enum status check(const struct config *config)
{
	const char *why = config->pid ? check_process(config) : check_command(config);

	if (!why && config->dry_run && config->json)
		why = "--dry-run prints a line of text: not with --json";
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl tune --help'", why);
	return STATUS_USAGE;
}

static void print_proposal(const struct config *config, const char *why, const char *knob)
{
	const char *none = config->pid
				   ? "proposed: no knob of the process is for that; 'quartzctl "
				     "knobs' lists what it has"
				   : "proposed: no built-in knob helps with that; if the command "
				     "has one, --knob 'NAME:RANGE:COMMAND {}'";

	printf("%s%s\n%s%s\n", why ? "measured: " : "measured: nothing limits it that can be told",
	       why ? why : "", knob ? "proposed: --knob " : none, knob ? knob : "");
}

/* Prints the first finding that a knob helps with, or else the first finding. */
static enum status propose(const struct tuning *t, const struct qz_report *r, const char **knob)
{
	struct qz_advice *a = qz_advise__new(r);
	char *why = NULL;
	uint32_t finding;

	if (!a)
		return out_of_memory();
	*knob = qz_remedies__knob(a, is_live(t) ? &t->live.page.copy : NULL, &finding);
	if (a->n)
		why = output__escape(a->findings[finding < a->n ? finding : 0].what);
	if (!t->runs.config->json)
		print_proposal(t->runs.config, why, *knob);
	free(why);
	qz_advise__free(a);
	return STATUS_OK;
}

/* Which knob: the one that is named, or the one that helps with what limits the program. *text may be NULL then. */
static enum status choose_knob(const struct tuning *t, const char **text)
{
	const struct config *config = t->runs.config;
	struct trial once = {.on = &t->runs.on,
			     .processors = t->runs.on.n,
			     .command = is_live(t) ? NULL : config->command,
			     .pids = is_live(t) ? &t->live.pids : NULL,
			     .duration_ns = config->duration ? config->duration : LOOK_TIME,
			     .user = t->runs.user};
	struct measured m;
	enum status status;

	*text = OWN(tune_config, config)->knob;
	if (*text)
		return STATUS_OK;
	if (geteuid()) {
		complain("without --knob the %s is measured first, and only root can; run it with "
			 "sudo",
			 config->pid ? "process" : "command");
		return STATUS_NO_PRIVILEGE;
	}
	status = measured__take(&m, config, &once, "tune");
	if (status == STATUS_OK)
		status = propose(t, m.view.reports[0], text);
	measured__free(&m);
	return status;
}

static enum status tune(struct tuning *t)
{
	const struct config *config = t->runs.config;
	enum status status;

	t->search = qz_tune__new((const char *const *)t->knob.names, t->knob.positions, t->knob.n,
				 t->knob.start,
				 OWN(tune_config, config)->trials
					 ? (uint32_t)OWN(tune_config, config)->trials
					 : STANDARD_TRIALS);
	t->trials = config->json ? json_array() : NULL;
	if (!t->search || (config->json && !t->trials))
		return out_of_memory();
	t->search->unordered = t->knob.unordered;
	if (!config->json)
		tuning__print_plan(t);
	if (config->dry_run && !config->json)
		return STATUS_OK;
	status = is_live(t) && !config->dry_run ? live__protect(&t->live) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	if (!config->json)
		tuning__print_head(t);
	runs__begin(&t->runs);
	if (!config->dry_run)
		run_trials(t);
	return show_result(t);
}

static enum status find_knob(struct tuning *t)
{
	const struct config *config = t->runs.config;
	const char *text = NULL;
	enum status status = STATUS_OK;

	if (is_live(t))
		status = live__open(&t->live, &t->runs);
	t->by = is_live(t) ? t->live.by : MEASURE_TIME;
	if (status == STATUS_OK)
		status = choose_knob(t, &text);
	if (status != STATUS_OK || !text)
		return status;
	return is_live(t)
		       ? live__choose(&t->live, text, &t->knob)
		       : knob__parse(&t->knob, text, OWN(tune_config, config)->start, &t->runs.on);
}

static enum status run(const struct config *config)
{
	struct tuning t = {.costs = config->runs ? config->runs : STANDARD_RUNS};
	enum status status = check(config);

	trial__watch();
	if (status == STATUS_OK)
		status = runs__open(&t.runs, config, STANDARD_LIMIT,
				    config->pid ? NULL : "the command");
	if (status == STATUS_OK)
		status = find_knob(&t);
	if (status == STATUS_OK && t.knob.n)
		status = tune(&t);
	live__close(&t.live);
	trial__unwatch();
	qz_tune__free(t.search);
	json_decref(t.trials);
	knob__free(&t.knob);
	return status;
}

static const struct tune_config defaults = {.common = {.rows = -1, .measure = -1}};

static const struct qz_option options[] = {
	{"knob", 'k', QZ_OPTION_STRING, OWN_FIELD(tune_config, knob), "KNOB",
	 "What to set. NAME:RANGE:COMMAND: {} in COMMAND, a line\nfor sh. cpus[:RANGE], "
	 "nice[:RANGE]: the processors or\nthe nice value of the COMMAND that follows. With\n--pid "
	 "NAME[:RANGE]: that knob of the process.\nRANGE: 1-8, 1-64/4 or 1,2,4,8. Default: by what "
	 "limits\nthe program; needs root."},
	{"pid", 'p', QZ_OPTION_INTEGER, FIELD(pid), "PID",
	 "Instead of a COMMAND, tune this running process, whose\nprogram has knobs of libquartz.",
	 1, INT32_MAX},
	{"start", 0, QZ_OPTION_STRING, OWN_FIELD(tune_config, start), "VALUE",
	 "The value to begin with, and to go back to.\nDefault: the first one, all processors, "
	 "nice 0."},
	{"by", 0, QZ_OPTION_CHOICE, FIELD(measure), "time|events|parallelism",
	 "What to make better: how long a COMMAND takes, or with\n--pid events (quartz_event) per "
	 "second [events], or\neffective parallelism, which needs root."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: length of one run [1s].", 1000000, INT64_MAX},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N", "Runs in each trial [3].", 1, 32},
	{"trials", 0, QZ_OPTION_INTEGER, OWN_FIELD(tune_config, trials), "N",
	 "Trials at most [12].", 1, 1000},
	{"limit", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "Time for all of it at most [10min].", 1, INT64_MAX},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"dry-run", 0, QZ_OPTION_FLAG, FIELD(dry_run), NULL,
	 "Only tell which knob and which values, try none."},
	{0},
};

const struct command cmd_tune = {
	.name = "tune",
	.operands = " [[--] COMMAND [ARGUMENT...]]",
	.summary = "Find the best setting of a command or a program",
	.details = "Runs the command with one setting after the other, and ends with the best one, "
		   "or\n"
		   "with the one of the start if none is better by more than chance. With --pid, "
		   "sets a\n"
		   "knob of a running program instead, and measures what it does.\n",
	.options = options,
	.shared = SHARED_JSON,
	.size = sizeof(struct tune_config),
	.takes_command = true,
	.defaults = &defaults,
	.run = run,
};
