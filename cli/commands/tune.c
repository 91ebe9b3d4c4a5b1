/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl tune: which setting of a knob is the fastest, by runs of a command. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/experiment/knob.h"
#include "cli/experiment/proposal.h"
#include "cli/experiment/timed_run.h"
#include "cli/experiment/trial.h"
#include "cli/render/output.h"
#include "core/tune/search.h"

#define SECOND		1000000000ull
#define STANDARD_RUNS	3
#define STANDARD_TRIALS 12
#define STANDARD_LIMIT	(600 * SECOND)
#define TOO_LONG	4 /* times the start, and a second: such a setting is no good */

struct tuning {
	const struct config *config;
	struct processors on;
	struct knob knob;
	struct qz_tune *search;
	int64_t runs;
	uint64_t limit_ns, deadline;
	json_t *trials; /* NULL: as text */
	bool over;	/* no time is left for another trial */
	enum status status;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* ---- one run ---- */

/* For one run: as much as the start took, some times, and no more than there is. */
static uint64_t limit_of(const struct tuning *t)
{
	double start = qz_tune__cost(&t->search->settings[t->search->start]);
	uint64_t at = now(), left = t->deadline > at ? t->deadline - at : 1;
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

static enum timed_outcome run_once(const struct tuning *t, uint32_t setting, uint64_t *ns,
				   int *status)
{
	char *words[4] = {0}, option[32];
	struct timed_run run = {.limit_ns = limit_of(t)};
	enum timed_outcome outcome;
	cpu_set_t on;

	*status = STATUS_FAILURE;
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
	outcome = timed_run__do(&run, ns, status);
	free(words[2]);
	return outcome;
}

/* ---- trials ---- */

struct trial_of_setting {
	const struct qz_tune_step *step;
	uint32_t n;
	double costs[QZ_TUNE_COSTS];
	char failure[96];
};

static void explain(const struct tuning *t, struct trial_of_setting *trial,
		    enum timed_outcome outcome, int status)
{
	if (outcome == TIMED_FAILED)
		snprintf(trial->failure, sizeof(trial->failure), "ended with status %d", status);
	else if (now() >= t->deadline)
		snprintf(trial->failure, sizeof(trial->failure), "the time was over");
	else
		snprintf(trial->failure, sizeof(trial->failure),
			 "ended, since it took more than %d times as long as the start", TOO_LONG);
	trial->n = 0;
}

/* False: interrupted, or there is no time left, so that nothing is known of this setting. */
static bool measure(struct tuning *t, struct trial_of_setting *trial)
{
	for (int64_t i = 0; i < t->runs; i++) {
		enum timed_outcome outcome;
		uint64_t ns = 0;
		int status;

		outcome = run_once(t, trial->step->setting, &ns, &status);
		if (outcome == TIMED_INTERRUPTED) {
			t->status = (enum status)status;
			return false;
		}
		if (outcome == TIMED_TOO_LONG && now() >= t->deadline) {
			t->over = true;
			return false;
		}
		if (outcome != TIMED_DONE) {
			explain(t, trial, outcome, status);
			return true;
		}
		trial->costs[trial->n++] = (double)ns / SECOND;
	}
	return true;
}

static double median_of(const struct trial_of_setting *trial)
{
	struct qz_tune_setting s = {.n = trial->n};

	memcpy(s.costs, trial->costs, trial->n * sizeof(*s.costs));
	return qz_tune__cost(&s);
}

static void print_trial(const struct tuning *t, const struct trial_of_setting *trial)
{
	const char *value = t->knob.names[trial->step->setting];

	if (trial->n)
		printf("%5u  %8s  %9.3f  %s\n", t->search->trials + 1, value, median_of(trial),
		       trial->step->why);
	else
		printf("%5u  %8s  %9s  %s: %s\n", t->search->trials + 1, value, "-",
		       trial->step->why, trial->failure);
	fflush(stdout);
}

static bool keep_trial(struct tuning *t, const struct trial_of_setting *trial)
{
	json_t *times = json_array(), *o;
	bool failed = !times;

	for (uint32_t i = 0; !failed && i < trial->n; i++)
		failed = json_array_append_new(
			times, json_integer(llround(trial->costs[i] * (double)SECOND)));
	o = json_pack("{sI, ss, sO, sb, ss}", "value",
		      (json_int_t)t->knob.values[trial->step->setting], "why", trial->step->why,
		      "elapsed_ns", times, "failed", !trial->n, "failure", trial->failure);
	json_decref(times);
	return !failed && !json_array_append_new(t->trials, o);
}

static void run_trials(struct tuning *t)
{
	struct qz_tune_step step;

	while (t->status == STATUS_OK && !t->over && qz_tune__next(t->search, &step)) {
		struct trial_of_setting trial = {.step = &step};

		if (!measure(t, &trial))
			break;
		if (!t->trials)
			print_trial(t, &trial);
		else if (!keep_trial(t, &trial))
			t->status = out_of_memory();
		qz_tune__tell(t->search, step.setting, trial.costs, trial.n);
		t->over = now() >= t->deadline;
	}
}

/* ---- the result ---- */

static void print_use(const struct tuning *t, uint32_t setting)
{
	char *command;

	if (t->knob.kind != KNOB_COMMAND)
		return;
	command = knob__command(&t->knob, setting);
	if (command)
		printf("use: %s\n", command);
	free(command);
}

static void print_result(const struct tuning *t, const struct qz_tune_result *r)
{
	const char *name = t->knob.name, *start = t->knob.names[t->search->start];

	putchar('\n');
	if (t->status != STATUS_OK)
		printf("interrupted; of what was measured until then:\n");
	else if (t->over)
		printf("the time of --limit is over; of what was measured until then:\n");
	if (r->setting != t->search->start && r->gain_ci < 0)
		printf("%s %s is best: %.3f s, %.1f%% less than at the start (%s, %.3f s); one run "
		       "each, so this may be chance\n",
		       name, t->knob.names[r->setting], r->cost, 100 * r->gain / r->start_cost,
		       start, r->start_cost);
	else if (r->setting != t->search->start)
		printf("%s %s is best: %.3f s, %.1f%% less than at the start (%s, %.3f s); +- %.3f "
		       "s\n",
		       name, t->knob.names[r->setting], r->cost, 100 * r->gain / r->start_cost,
		       start, r->start_cost, r->gain_ci);
	else if (r->best != t->search->start)
		printf("%s %s stays: %s took %.1f%% less, but that may be chance\n", name, start,
		       t->knob.names[r->best], 100 * r->gain / r->start_cost);
	else
		printf("%s %s stays: nothing was faster\n", name, start);
	print_use(t, r->setting);
}

static json_t *nanoseconds(double seconds)
{
	return isfinite(seconds) && seconds >= 0 ? json_integer(llround(seconds * (double)SECOND))
						 : json_null();
}

static enum status print_json(const struct tuning *t, const struct qz_tune_result *r)
{
	json_t *o = json_pack("{ss, ss, sI, sI, sI, so, so, so, so, sO, sb}", "schema",
			      "quartz.tune/v1", "knob", t->knob.name, "start",
			      (json_int_t)t->knob.values[t->search->start], "best",
			      (json_int_t)t->knob.values[r->best], "chosen",
			      (json_int_t)t->knob.values[r->setting], "start_ns",
			      nanoseconds(r->start_cost), "chosen_ns", nanoseconds(r->cost),
			      "gain_ns", nanoseconds(r->gain), "gain_ci_ns",
			      nanoseconds(r->gain_ci), "trials", t->trials, "complete",
			      t->status == STATUS_OK && !t->over);

	return output__json(o, 1);
}

static enum status show_result(const struct tuning *t)
{
	const struct qz_tune_setting *start = &t->search->settings[t->search->start];
	struct qz_tune_result r;
	enum status status = STATUS_OK;

	if (!start->n) {
		if (t->status == STATUS_OK)
			complain("%s %s, the start, could not be measured%s; --start names another "
				 "one",
				 t->knob.name, start->name,
				 t->over ? " in the time of --limit" : "");
		return t->status == STATUS_OK ? STATUS_FAILURE : t->status;
	}
	r = qz_tune__result(t->search);
	if (t->trials)
		status = print_json(t, &r);
	else
		print_result(t, &r);
	return t->status == STATUS_OK ? status : t->status;
}

/* ---- the command ---- */

static enum status check(const struct config *config)
{
	const char *colon = config->knob ? strchr(config->knob, ':') : NULL;
	bool whole = colon && strchr(colon + 1, ':');
	const char *why = NULL;

	if (whole && *config->command)
		why = "a knob with a command of its own takes no COMMAND";
	else if (!whole && !*config->command)
		why = config->knob ? "the knob needs a COMMAND" : "no --knob given, nor a COMMAND";
	else if (config->dry_run && config->json)
		why = "--dry-run prints a line of text: not with --json";
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl tune --help'", why);
	return STATUS_USAGE;
}

/* Also the plan, so that who looks at the first trial knows how long it takes at most. */
static void print_plan(const struct tuning *t)
{
	printf("%s: %u value%s from %s to %s, %u trials of %" PRId64 " run%s each, and %" PRIu64
	       " s, at most\n",
	       t->knob.name, t->knob.n, t->knob.n == 1 ? "" : "s", t->knob.names[0],
	       t->knob.names[t->knob.n - 1], t->search->most, t->runs, t->runs == 1 ? "" : "s",
	       (uint64_t)((t->limit_ns + SECOND - 1) / SECOND));
}

/* Which knob: the one that is named, or the one that helps with what limits the command. *text may be NULL then. */
static enum status choose_knob(const struct tuning *t, const char **text)
{
	const struct config *config = t->config;
	struct proposal p;
	enum status status;

	*text = config->knob;
	if (*text)
		return STATUS_OK;
	if (geteuid()) {
		complain("without --knob the command is measured first, and only root can; run it "
			 "with sudo");
		return STATUS_NO_PRIVILEGE;
	}
	status = proposal__make(&p, config, &t->on);
	*text = p.knob;
	if (status == STATUS_OK && !config->json)
		printf("%s%s\n%s%s\n",
		       p.why ? "measured: " : "measured: nothing limits it that can be told",
		       p.why ? p.why : "",
		       p.knob ? "proposed: --knob "
			      : "proposed: no built-in knob helps with that; if the command has "
				"one, --knob 'NAME:RANGE:COMMAND {}'",
		       p.knob ? p.knob : "");
	proposal__free(&p);
	return status;
}

static enum status tune(struct tuning *t)
{
	const struct config *config = t->config;
	enum status status;

	t->search = qz_tune__new((const char *const *)t->knob.names, t->knob.positions, t->knob.n,
				 t->knob.start,
				 config->trials ? (uint32_t)config->trials : STANDARD_TRIALS);
	t->trials = config->json ? json_array() : NULL;
	if (!t->search || (config->json && !t->trials))
		return out_of_memory();
	if (!config->json)
		print_plan(t);
	if (config->dry_run && !config->json)
		return STATUS_OK;
	if (!config->json)
		printf("\ntrial  %8s    time, s  why\n", t->knob.name);
	t->deadline = now() + t->limit_ns;
	if (!config->dry_run)
		run_trials(t);
	status = show_result(t);
	return status;
}

enum status cmd_tune(const struct config *config)
{
	struct tuning t = {.config = config};
	enum status status = check(config);
	const char *knob = NULL;
	int err = processors__find(&t.on, "");

	t.runs = config->runs ? config->runs : STANDARD_RUNS;
	t.limit_ns = config->limit ? config->limit : STANDARD_LIMIT;
	if (status == STATUS_OK && err) {
		complain("cannot tell the processors: %s", strerror(-err));
		status = STATUS_FAILURE;
	}
	trial__watch();
	if (status == STATUS_OK)
		status = choose_knob(&t, &knob);
	if (status == STATUS_OK && knob)
		status = knob__parse(&t.knob, knob, config->start, &t.on);
	if (status == STATUS_OK && knob)
		status = tune(&t);
	trial__unwatch();
	qz_tune__free(t.search);
	json_decref(t.trials);
	knob__free(&t.knob);
	return status;
}
