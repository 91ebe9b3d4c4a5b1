/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "core/util/clock.h"

#define SECOND	  1000000000ull
#define VARIABLES 32 /* of all changes at a time */

enum status runs__open(struct runs *r, const struct config *config, uint64_t limit_ns,
		       const char *what)
{
	int err = processors__find(&r->on, "");

	r->config = config;
	r->limit_ns = config->limit ? config->limit : limit_ns;
	if (err) {
		complain("cannot tell the processors: %s", strerror(-err));
		return STATUS_FAILURE;
	}
	/* who is not root runs it itself, whoever called sudo before */
	if (!what || (geteuid() && !config->user))
		return STATUS_OK;
	return programs__user(config, what, &r->user);
}

void runs__begin(struct runs *r)
{
	r->deadline = qz_clock__now() + r->limit_ns;
}

uint64_t runs__left_ns(const struct runs *r)
{
	uint64_t at = qz_clock__now();

	return r->deadline > at ? r->deadline - at : 1;
}

enum run_outcome runs__end(struct runs *r)
{
	r->status = trial__signal() ? (enum status)(128 + trial__signal()) : STATUS_FAILURE;
	return RUN_ENDED;
}

/* ---- changes ---- */

struct applied {
	char *texts[RUNS_CHANGES]; /* cut into variables */
	char *variables[VARIABLES + 1];
	char *words[4];
	cpu_set_t on;
};

/* No value has a blank. */
static bool add_variables(struct applied *a, uint32_t i, const char *text)
{
	uint32_t n = 0;
	char *rest, *word;

	while (a->variables[n])
		n++;
	a->texts[i] = strdup(text);
	if (!a->texts[i])
		return false;
	for (word = strtok_r(a->texts[i], " ", &rest); word && n < VARIABLES;
	     word = strtok_r(NULL, " ", &rest))
		a->variables[n++] = word;
	return true;
}

static bool apply(const struct runs *r, struct applied *a, uint32_t i, const struct change *change,
		  struct timed_run *run)
{
	const char *const words[] = {"sh", "-c", change->text};
	char option[32];

	switch (change->way) {
	case QZ_REMEDY_AFFINITY:
		processors__choose(&r->on, (uint32_t)change->value, 0, &a->on, option);
		run->on = &a->on;
		return true;
	case QZ_REMEDY_POLICY:
		run->batch = true;
		return true;
	case QZ_REMEDY_NICE:
		run->nice = (int)change->value;
		return true;
	case QZ_REMEDY_ARGUMENT:
	case QZ_REMEDY_COMMAND:
		memcpy(a->words, words, sizeof(words));
		run->command = a->words;
		return true;
	default:
		return add_variables(a, i, change->text);
	}
}

/* ---- a run ---- */

/* What the outcome means. */
static enum run_outcome explain(struct runs *r, enum timed_outcome outcome,
				const struct timed_result *result, char why[RUNS_WHY])
{
	switch (outcome) {
	case TIMED_DONE:
		return RUN_DONE;
	case TIMED_FAILED:
		snprintf(why, RUNS_WHY, "ended with status %d", result->status);
		return RUN_FAILED;
	case TIMED_INTERRUPTED:
		return runs__end(r);
	case TIMED_TOO_LONG:
		break;
	}
	r->over = qz_clock__now() >= r->deadline;
	if (r->over)
		return RUN_ENDED;
	snprintf(why, RUNS_WHY, "ended, since it took more than %d times as long", RUNS_TOO_LONG);
	return RUN_SLOW;
}

enum run_outcome runs__time(struct runs *r, const struct change *changes, uint32_t n,
			    uint64_t usual_ns, struct timed_run *run, struct timed_result *result,
			    char why[RUNS_WHY])
{
	uint64_t most = RUNS_TOO_LONG * usual_ns + SECOND, left = runs__left_ns(r);
	enum run_outcome outcome = RUN_DONE;
	struct applied applied = {0};

	run->user = r->user;
	run->variables = applied.variables;
	run->limit_ns = usual_ns && most < left ? most : left;
	for (uint32_t i = 0; outcome == RUN_DONE && i < n; i++)
		if (!apply(r, &applied, i, &changes[i], run)) {
			out_of_memory();
			outcome = runs__end(r);
		}
	if (outcome == RUN_DONE)
		outcome = explain(r, timed_run__do(run, result), result, why);
	for (uint32_t i = 0; i < RUNS_CHANGES; i++)
		free(applied.texts[i]);
	return outcome;
}
