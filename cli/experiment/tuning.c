/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/tuning.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/output.h"
#include "core/util/ratio_text.h"

#define SECOND	  1000000000ull
#define SIGNALLED 128 /* and the signal: a status */

/* By --by. */
static const struct {
	const char *word, *head, *unit, *difference;
	int decimals;
} measures[] = {
	[MEASURE_TIME] = {"time", "time, s", " s", "less", 3},
	[MEASURE_EVENTS] = {"events", "events/s", " events/s", "more", 1},
	[MEASURE_PARALLELISM] = {"parallelism", "parallel", " processors busy", "more", 2},
};

/* What a cost is shown as. */
static double figure_of(const struct tuning *t, double cost)
{
	return t->by == MEASURE_TIME ? cost : 1 / cost;
}

/* ---- as text ---- */

void tuning__print_plan(const struct tuning *t)
{
	printf("%s: %u value%s from %s to %s, %u trials of %" PRId64 " run%s each, and %" PRIu64
	       " s, at most\n",
	       t->knob.name, t->knob.n, t->knob.n == 1 ? "" : "s", t->knob.names[0],
	       t->knob.names[t->knob.n - 1], t->search->most, t->costs, t->costs == 1 ? "" : "s",
	       (uint64_t)((t->runs.limit_ns + SECOND - 1) / SECOND));
}

void tuning__print_head(const struct tuning *t)
{
	printf("\ntrial  %8s  %9s  why\n", t->knob.name, measures[t->by].head);
}

static double median_of(const struct tuning_trial *trial)
{
	struct qz_tune_setting s = {.n = trial->n};

	memcpy(s.costs, trial->costs, trial->n * sizeof(*s.costs));
	return qz_tune__cost(&s);
}

static void print_trial(const struct tuning *t, const struct tuning_trial *trial)
{
	const char *value = t->knob.names[trial->step->setting];

	if (trial->n)
		printf("%5u  %8s  %9.*f  %s%s%s\n", t->search->trials + 1, value,
		       measures[t->by].decimals, figure_of(t, median_of(trial)), trial->step->why,
		       *trial->failure ? ": " : "", trial->failure);
	else
		printf("%5u  %8s  %9s  %s: %s\n", t->search->trials + 1, value, "-",
		       trial->step->why, trial->failure);
	fflush(stdout);
}

/* The figure of what costs so much less than the start, of the start's. */
static double ratio_of(const struct tuning *t, const struct qz_tune_result *r, double less)
{
	double left = r->start_cost - less;

	return t->by == MEASURE_TIME ? left / r->start_cost : r->start_cost / left;
}

static void write_amount(const struct tuning *t, const struct qz_tune_result *r,
			 char text[QZ_RATIO_TEXT])
{
	double ratio = ratio_of(t, r, r->gain);

	if (!qz_ratio_text__is_times(ratio)) {
		snprintf(text, QZ_RATIO_TEXT, "%.1f%% %s", 100 * fabs(ratio - 1),
			 measures[t->by].difference);
		return;
	}
	qz_ratio_text__times(text, ratio);
	strcat(text, " as much");
}

static void print_best(const struct tuning *t, const struct qz_tune_result *r)
{
	const char *unit = measures[t->by].unit;
	double least = ratio_of(t, r, r->gain - r->gain_ci);
	bool times = qz_ratio_text__is_times(ratio_of(t, r, r->gain));
	char amount[QZ_RATIO_TEXT], at_least[QZ_RATIO_TEXT];
	int decimals = measures[t->by].decimals;

	write_amount(t, r, amount);
	if (times)
		qz_ratio_text__times(at_least, least);
	else
		snprintf(at_least, sizeof(at_least), "%.1f%%", 100 * fabs(least - 1));
	printf("%s %s is best: %.*f%s, %s (at least %s) %s at the start (%s, %.*f%s)\n",
	       t->knob.name, t->knob.names[r->setting], decimals, figure_of(t, r->cost), unit,
	       amount, at_least, times ? "as" : "than", t->knob.names[t->search->start], decimals,
	       figure_of(t, r->start_cost), unit);
}

static void print_start(const struct tuning *t, const struct qz_tune_result *r)
{
	const char *name = t->knob.name, *start = t->knob.names[t->search->start];
	const char *best = t->knob.names[r->best];
	char amount[QZ_RATIO_TEXT];

	write_amount(t, r, amount);
	if (r->best == t->search->start)
		printf("%s %s stays: nothing was %s\n", name, start,
		       t->by == MEASURE_TIME ? "faster" : "better");
	else if (r->gain_ci < 0)
		printf("%s %s stays: %s had %s, but after so few runs chance cannot be told; more "
		       "--runs or --trials can\n",
		       name, start, best, amount);
	else
		printf("%s %s stays: %s had %s, but that may be chance\n", name, start, best,
		       amount);
}

static void print_result(const struct tuning *t, const struct qz_tune_result *r)
{
	putchar('\n');
	if (t->runs.status != STATUS_OK)
		printf("%s; of what was measured until then:\n",
		       t->runs.status > SIGNALLED ? "interrupted" : "ended early");
	else if (t->runs.over)
		printf("the time of --limit is over; of what was measured until then:\n");
	if (r->setting == t->search->start)
		print_start(t, r);
	else
		print_best(t, r);
	if (t->knob.lines)
		printf("use: %s\n", t->knob.lines[r->setting]);
}

/* ---- as JSON ---- */

static json_t *nanoseconds(const struct tuning *t, double seconds)
{
	return t->by == MEASURE_TIME && isfinite(seconds) && seconds >= 0
		       ? json_integer(llround(seconds * (double)SECOND))
		       : json_null();
}

static json_t *rate(const struct tuning *t, double cost)
{
	return t->by != MEASURE_TIME && isfinite(cost) && cost > 0 ? json_real(1 / cost)
								   : json_null();
}

static bool keep_trial(struct tuning *t, const struct tuning_trial *trial)
{
	bool time = t->by == MEASURE_TIME;
	json_t *runs = json_array(), *o;
	bool failed = !runs;

	for (uint32_t i = 0; !failed && i < trial->n; i++)
		failed = json_array_append_new(runs, time ? nanoseconds(t, trial->costs[i])
							  : rate(t, trial->costs[i]));
	o = json_pack("{sI, ss, ss, sO, sb, ss}", "value",
		      (json_int_t)t->knob.values[trial->step->setting], "name",
		      t->knob.names[trial->step->setting], "why", trial->step->why,
		      time ? "elapsed_ns" : "rates", runs, "failed", !trial->n, "failure",
		      trial->failure);
	json_decref(runs);
	return !failed && !json_array_append_new(t->trials, o);
}

static enum status print_json(const struct tuning *t, const struct qz_tune_result *r)
{
	json_t *o = json_pack("{ss, ss, ss, sI, sI, sI, so, so, so, so, so, so, sO, sb}", "schema",
			      "quartz.tune/v1", "knob", t->knob.name, "by", measures[t->by].word,
			      "start", (json_int_t)t->knob.values[t->search->start], "best",
			      (json_int_t)t->knob.values[r->best], "chosen",
			      (json_int_t)t->knob.values[r->setting], "start_ns",
			      nanoseconds(t, r->start_cost), "chosen_ns", nanoseconds(t, r->cost),
			      "gain_ns", nanoseconds(t, r->gain), "gain_ci_ns",
			      nanoseconds(t, r->gain_ci), "start_rate", rate(t, r->start_cost),
			      "chosen_rate", rate(t, r->cost), "trials", t->trials, "complete",
			      t->runs.status == STATUS_OK && !t->runs.over);

	return output__json(o, 1);
}

/* ---- either ---- */

bool tuning__show_trial(struct tuning *t, const struct tuning_trial *trial)
{
	if (t->trials)
		return keep_trial(t, trial);
	print_trial(t, trial);
	return true;
}

enum status tuning__show_result(const struct tuning *t, const struct qz_tune_result *r)
{
	if (t->trials)
		return print_json(t, r);
	print_result(t, r);
	return STATUS_OK;
}
