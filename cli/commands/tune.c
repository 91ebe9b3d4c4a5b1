/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl tune: which setting of a knob is the best, by runs of a command or by what a running program does. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/experiment/knob.h"
#include "cli/experiment/proposal.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/timed_run.h"
#include "cli/experiment/trial.h"
#include "cli/experiment/tuning.h"
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
#define TOO_LONG	4 /* times the start, and a second: such a setting is no good */

/* ---- one run ---- */

/* For one run: as much as the start took, some times, and no more than there is. */
static uint64_t limit_of(const struct tuning *t)
{
	double start = qz_tune__cost(&t->search->settings[t->search->start]);
	uint64_t at = qz_clock__now(), left = t->deadline > at ? t->deadline - at : 1;
	double most = TOO_LONG * start + 1;

	return isfinite(start) && most * SECOND < (double)left ? (uint64_t)(most * SECOND) : left;
}

/* NULL-terminated; [2] is to be freed. */
static bool make_command(const struct tuning *t, uint32_t setting, char *words[4])
{
	if (t->knob.kind != KNOB_COMMAND)
		return true;
	words[0] = (char *)"sh";
	words[1] = (char *)"-c";
	words[2] = knob__command(&t->knob, setting);
	words[3] = NULL;
	return words[2];
}

static enum timed_outcome run_once(const struct tuning *t, uint32_t setting,
				   struct timed_result *result)
{
	char *words[4] = {0}, option[32];
	struct timed_run run = {.limit_ns = limit_of(t), .user = t->user};
	enum timed_outcome outcome;
	cpu_set_t on;

	*result = (struct timed_result) {.status = STATUS_FAILURE};
	if (!make_command(t, setting, words)) {
		out_of_memory();
		return TIMED_FAILED;
	}
	run.command = words[0] ? words : t->config->command;
	if (t->knob.kind == KNOB_NICE)
		run.nice = (int)t->knob.values[setting];
	if (t->knob.kind == KNOB_CPUS) {
		processors__choose(&t->on, (uint32_t)t->knob.values[setting], 0, &on, option);
		run.on = &on;
	}
	outcome = timed_run__do(&run, result);
	free(words[2]);
	return outcome;
}

/* ---- trials ---- */

static void fail_trial(struct tuning_trial *trial, const char *why)
{
	snprintf(trial->failure, sizeof(trial->failure), "%s", why);
	trial->n = 0;
}

static void explain(const struct tuning *t, struct tuning_trial *trial, enum timed_outcome outcome,
		    int status)
{
	char text[96];

	if (outcome == TIMED_FAILED)
		snprintf(text, sizeof(text), "ended with status %d", status);
	else if (qz_clock__now() >= t->deadline)
		snprintf(text, sizeof(text), "the time was over");
	else
		snprintf(text, sizeof(text),
			 "ended, since it took more than %d times as long as the start", TOO_LONG);
	fail_trial(trial, text);
}

/* False: interrupted, or there is no time left, so that nothing is known of this setting. */
static bool measure_command(struct tuning *t, struct tuning_trial *trial)
{
	for (int64_t i = 0; i < t->runs; i++) {
		struct timed_result result;
		enum timed_outcome outcome = run_once(t, trial->step->setting, &result);

		if (outcome == TIMED_INTERRUPTED) {
			t->status = (enum status)result.status;
			return false;
		}
		if (outcome == TIMED_TOO_LONG && qz_clock__now() >= t->deadline) {
			t->over = true;
			return false;
		}
		if (outcome != TIMED_DONE) {
			explain(t, trial, outcome, result.status);
			return true;
		}
		trial->costs[trial->n++] = (double)result.elapsed_ns / SECOND;
	}
	return true;
}

static void stop(struct tuning *t, enum live_outcome outcome)
{
	t->status = outcome == LIVE_INTERRUPTED ? (enum status)(128 + trial__signal())
						: STATUS_FAILURE;
}

/* So much worse than the start that the rest of the trial would only do harm. */
static bool is_bad(const struct tuning *t, double cost)
{
	const struct qz_tune_setting *start = &t->search->settings[t->search->start];

	return start->n && cost > TOO_LONG * qz_tune__cost(start);
}

/* Likewise. */
static bool measure_process(struct tuning *t, struct tuning_trial *trial)
{
	const char *why = "";
	enum live_outcome outcome = live__set(&t->live, t->knob.values[trial->step->setting], &why);

	for (int64_t i = 0; outcome == LIVE_DONE && i < t->runs; i++) {
		double rate = 0;

		if (qz_clock__now() + t->live.duration_ns > t->deadline) {
			t->over = true;
			return false;
		}
		outcome = live__measure(&t->live, &rate, &why);
		if (outcome != LIVE_DONE)
			break;
		trial->costs[trial->n++] = 1 / rate;
		if (is_bad(t, 1 / rate)) {
			snprintf(trial->failure, sizeof(trial->failure),
				 "left at once, since it did less than a quarter of the start");
			return true;
		}
	}
	if (outcome == LIVE_REFUSED)
		fail_trial(trial, why);
	else if (outcome != LIVE_DONE)
		stop(t, outcome);
	return outcome == LIVE_DONE || outcome == LIVE_REFUSED;
}

static void run_trials(struct tuning *t)
{
	struct qz_tune_step step;

	while (t->status == STATUS_OK && !t->over && qz_tune__next(t->search, &step)) {
		struct tuning_trial trial = {.step = &step};

		if (t->knob.kind == KNOB_PROCESS ? !measure_process(t, &trial)
						 : !measure_command(t, &trial))
			break;
		if (!tuning__show_trial(t, &trial))
			t->status = out_of_memory();
		qz_tune__tell(t->search, step.setting, trial.costs, trial.n);
		t->over = qz_clock__now() >= t->deadline;
	}
}

/* ---- the result ---- */

static enum status fail_to_start(const struct tuning *t)
{
	const char *name = t->search->settings[t->search->start].name;

	if (t->status != STATUS_OK)
		return t->status;
	complain("%s %s, the start, could not be measured%s%s", t->knob.name, name,
		 t->over ? " in the time of --limit" : "",
		 t->knob.kind == KNOB_PROCESS ? "" : "; --start names another one");
	return STATUS_FAILURE;
}

/* A search that ended early ends where it began. */
static enum status leave_process(const struct tuning *t, uint32_t setting)
{
	enum status status;

	if (t->knob.kind != KNOB_PROCESS)
		return STATUS_OK;
	if (t->status != STATUS_OK)
		setting = t->search->start;
	status = live__leave((struct live *)&t->live, t->knob.values[setting]);
	if (status == STATUS_OK && !t->trials)
		printf("process %d has %s %s%s\n", t->live.page.pid, t->knob.name,
		       t->knob.names[setting],
		       setting == t->search->start ? ", as at the start" : "");
	return status;
}

/* In the guard, for one that was killed. */
static void put_back(void *context)
{
	struct tuning *t = context;

	live__leave(&t->live, t->knob.values[t->search->start]);
	knob_page__stop_counting(&t->live.page);
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
	if (t->status != STATUS_OK)
		return t->status;
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

static void print_proposal(const struct config *config, const struct proposal *p)
{
	const char *none = config->pid
				   ? "proposed: no knob of the process is for that; 'quartzctl "
				     "knobs' lists what it has"
				   : "proposed: no built-in knob helps with that; if the command "
				     "has one, --knob 'NAME:RANGE:COMMAND {}'";

	printf("%s%s\n%s%s\n",
	       p->why ? "measured: " : "measured: nothing limits it that can be told",
	       p->why ? p->why : "", p->knob ? "proposed: --knob " : none, p->knob ? p->knob : "");
}

/* Which knob: the one that is named, or the one that helps with what limits the program. *text may be NULL then. */
static enum status choose_knob(const struct tuning *t, const char **text)
{
	const struct config *config = t->config;
	struct proposal p;
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
	status = proposal__make(&p, config, &t->on, config->pid ? &t->live.page.copy : NULL,
				t->user);
	*text = p.knob;
	if (status == STATUS_OK && !config->json)
		print_proposal(config, &p);
	proposal__free(&p);
	return status;
}

static enum status tune(struct tuning *t)
{
	const struct config *config = t->config;
	enum status status;
	int err = 0;

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
	if (t->knob.kind == KNOB_PROCESS && !config->dry_run)
		err = guard__start(&t->guard, put_back, t);
	if (err) {
		complain("process %d: cannot start the process that would put its value back: %s",
			 t->live.page.pid, strerror(-err));
		return STATUS_FAILURE;
	}
	if (!config->json)
		tuning__print_head(t);
	t->deadline = qz_clock__now() + t->limit_ns;
	if (!config->dry_run)
		run_trials(t);
	status = show_result(t);
	guard__end(&t->guard);
	return status;
}

static enum status find_knob(struct tuning *t)
{
	const struct config *config = t->config;
	const char *text = NULL;
	enum status status = STATUS_OK;

	/* who is not root runs it itself, whoever called sudo before */
	if (!config->pid)
		status = geteuid() && !config->user
				 ? STATUS_OK
				 : programs__user(config, "the command", &t->user);
	if (status == STATUS_OK && config->pid)
		status = live__open(&t->live, config, &t->on);
	t->by = config->pid ? t->live.by : MEASURE_TIME;
	if (status == STATUS_OK)
		status = choose_knob(t, &text);
	if (status != STATUS_OK || !text)
		return status;
	return config->pid ? live__choose(&t->live, text, &t->knob)
			   : knob__parse(&t->knob, text, OWN(tune_config, config)->start, &t->on);
}

static enum status run(const struct config *config)
{
	struct tuning t = {.config = config};
	enum status status = check(config);
	int err = processors__find(&t.on, "");

	t.runs = config->runs ? config->runs : STANDARD_RUNS;
	t.limit_ns = config->limit ? config->limit : STANDARD_LIMIT;
	if (status == STATUS_OK && err) {
		complain("cannot tell the processors: %s", strerror(-err));
		status = STATUS_FAILURE;
	}
	trial__watch();
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
