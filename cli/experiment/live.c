/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/live.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/experiment/trial.h"
#include "cli/knobs/knob_failure.h"
#include "cli/query/paths.h"
#include "cli/query/profile_source.h"
#include "cli/query/view.h"

#define SECOND	      1000000000ull
#define PATIENCE      (5 * SECOND)
#define STANDARD_TIME (1 * SECOND)
#define MOST_SETTLE   (SECOND / 2)
#define MOST_WINDOWS  10 /* without an event: a bad value may make few, and all at once */
#define NAME	      "/profile" SOURCE_SUFFIX

/* ---- opening ---- */

static enum status fail_to_measure(struct live *l, int err)
{
	l->ended |= err == -ESRCH;
	if (err == -ESRCH)
		complain("process %d has ended", l->page.pid);
	else if (err == -ETIMEDOUT)
		complain("process %d: its events cannot be counted, since it comes to no "
			 "quartz_knob_point()",
			 l->page.pid);
	else
		complain("process %d: its events cannot be counted: %s", l->page.pid,
			 strerror(-err));
	return STATUS_FAILURE;
}

/* For profiles, which only root can take. */
static enum status make_directory(struct live *l)
{
	int err;

	if (geteuid()) {
		complain("--by parallelism needs a profile, which only root can take; run it with "
			 "sudo, or use --by events");
		return STATUS_NO_PRIVILEGE;
	}
	err = own_directory__make(&l->directory, "quartz-tune");
	return err ? paths__fail("/var/tmp", -err) : STATUS_OK;
}

enum status live__open(struct live *l, struct runs *r)
{
	const struct config *config = r->config;
	int err;

	*l = (struct live) {
		.runs = r,
		.pid = config->pid,
		.by = config->measure < 0 ? MEASURE_EVENTS : (enum tune_measure)config->measure,
		.duration_ns = config->duration ? config->duration : STANDARD_TIME,
	};
	l->pids = (struct qz_integers) {.items = &l->pid, .n = 1};
	err = knob_page__open(&l->page, (pid_t)config->pid);
	if (!err)
		return l->by == MEASURE_PARALLELISM && !config->dry_run ? make_directory(l)
									: STATUS_OK;
	l->pid = 0;
	return knob_failure__open((pid_t)config->pid, err);
}

void live__close(struct live *l)
{
	if (!l->pid)
		return;
	guard__end(&l->guard);
	if (l->counts)
		knob_page__stop_counting(&l->page);
	own_directory__remove(&l->directory);
	knob_page__close(&l->page);
	l->pid = 0;
}

enum status live__choose(struct live *l, const char *text, struct knob *k)
{
	const char *colon = strchr(text, ':');
	char name[QZ_KNOB_NAME_LENGTH + 1];
	size_t n = colon ? (size_t)(colon - text) : strlen(text);

	snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : (int)sizeof(name), text);
	l->knob = knob_page__find(&l->page, name);
	l->before = l->knob ? l->knob->value : 0;
	if (l->knob)
		return knob__of_process(k, text, colon ? colon + 1 : NULL, l->knob);
	return knob_failure__missing(l->page.pid, name);
}

/* ---- setting ---- */

static enum status fail_to_set(struct live *l, int64_t value, int err)
{
	char text[KNOB_VALUE];

	l->ended |= err == -ESRCH;
	return knob_failure__set(l->page.pid, l->knob, knob_page__value(l->knob, value, text), err);
}

static enum run_outcome fail(const char *text, char why[RUNS_WHY])
{
	snprintf(why, RUNS_WHY, "%s", text);
	return RUN_FAILED;
}

enum run_outcome live__set(struct live *l, int64_t value, char why[RUNS_WHY])
{
	uint64_t settle = l->duration_ns / 2;
	int err;

	if (trial__signal())
		return runs__end(l->runs);
	err = knob_page__set(&l->page, l->knob, value, PATIENCE);
	if (knob_failure__refusal(err))
		return fail(knob_failure__refusal(err), why);
	l->stuck = err == -ETIMEDOUT;
	if (l->stuck)
		complain("%s of process %d: not taken in %d s, since the program has not come to "
			 "its "
			 "quartz_knob_point() nor ended its callback; it keeps what it had",
			 l->knob->name, l->page.pid, (int)(PATIENCE / SECOND));
	else if (err)
		fail_to_set(l, value, err);
	if (err || !trial__pass(settle < MOST_SETTLE ? settle : MOST_SETTLE))
		return runs__end(l->runs);
	return RUN_DONE;
}

/* Where a value was not taken, it is enough that this one is asked for instead. */
enum status live__leave(struct live *l, int64_t value)
{
	int err;

	if (l->ended)
		return STATUS_FAILURE;
	err = knob_page__set(&l->page, l->knob, value, l->stuck ? 1 : PATIENCE);
	if (l->stuck)
		return STATUS_FAILURE;
	return err ? fail_to_set(l, value, err) : STATUS_OK;
}

/* In the guard, for one that was killed. */
static void put_back(void *context)
{
	struct live *l = context;

	live__leave(l, l->before);
	knob_page__stop_counting(&l->page);
}

enum status live__protect(struct live *l)
{
	int err = guard__start(&l->guard, put_back, l);

	if (!err)
		return STATUS_OK;
	complain("process %d: cannot start the process that would put its value back: %s",
		 l->page.pid, strerror(-err));
	return STATUS_FAILURE;
}

/* ---- events ---- */

static enum run_outcome count(struct live *l, struct knob_count *c)
{
	int err;

	l->counts = true;
	err = knob_page__count(&l->page, c, PATIENCE);
	if (!err)
		return RUN_DONE;
	fail_to_measure(l, err);
	return runs__end(l->runs);
}

/* Events between two counts. Fewer than before: a quartzd has come or gone, and the count has begun anew. */
static int32_t events_between(const struct knob_count *before, const struct knob_count *after)
{
	return (int32_t)(after->events - before->events);
}

static enum run_outcome measure_events(struct live *l, double *rate, char why[RUNS_WHY])
{
	struct knob_count before, after;
	enum run_outcome outcome = count(l, &before);

	for (int i = 0; outcome == RUN_DONE && i < MOST_WINDOWS; i++) {
		int32_t events;

		if (!trial__pass(l->duration_ns))
			return runs__end(l->runs);
		outcome = count(l, &after);
		events = events_between(&before, &after);
		if (outcome == RUN_DONE && events > 0 && after.at > before.at) {
			*rate = (double)events * SECOND / (double)(after.at - before.at);
			return RUN_DONE;
		}
		if (events < 0)
			before = after;
	}
	return outcome == RUN_DONE
		       ? fail("no events; is there a load, and does it call quartz_event()?", why)
		       : outcome;
}

/* ---- effective parallelism ---- */

/* Over all of the time, also that in which nothing ran: a pool that is not busy gets nothing done. */
static enum status read_parallelism(const char *file, double *rate)
{
	struct config of = {.input = file, .rows = -1};
	struct view view = {0};
	enum status status = view__open(&view, &of);

	if (status == STATUS_OK && view.profile->scopes[view.scopes[0]].samples)
		*rate = view.reports[0]->parallelism * (double)view.reports[0]->busy_ns /
			(double)view.reports[0]->elapsed_ns;
	view__close(&view);
	return status;
}

static enum run_outcome measure_parallelism(struct live *l, double *rate, char why[RUNS_WHY])
{
	char file[sizeof(l->directory.path) + sizeof(NAME)];
	struct trial t = {.on = &l->runs->on,
			  .processors = l->runs->on.n,
			  .pids = &l->pids,
			  .duration_ns = l->duration_ns,
			  .file = file};
	enum trial_outcome outcome;
	enum status status = STATUS_OK;
	int ended;

	*rate = 0;
	snprintf(file, sizeof(file), "%s" NAME, l->directory.path);
	outcome = trial__run(&t, &ended);
	if (outcome == TRIAL_DONE)
		status = read_parallelism(file, rate);
	unlink(file);
	if (outcome == TRIAL_INTERRUPTED)
		return runs__end(l->runs);
	if (outcome == TRIAL_FAILED && ended != STATUS_NO_SAMPLES)
		complain("process %d: it could not be profiled; quartzd ended with status %d",
			 l->page.pid, ended);
	if (status != STATUS_OK || (outcome != TRIAL_DONE && ended != STATUS_NO_SAMPLES))
		return runs__end(l->runs);
	return *rate > 0 ? RUN_DONE : fail("it does nothing that could be sampled", why);
}

enum run_outcome live__measure(struct live *l, double *rate, char why[RUNS_WHY])
{
	return l->by == MEASURE_EVENTS ? measure_events(l, rate, why)
				       : measure_parallelism(l, rate, why);
}
