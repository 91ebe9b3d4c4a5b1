/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of runs: without a remedy, with two remedies, without, with two more, ... Each run with
 * a remedy is paired with an adjacent run without one, so that other load on the machine affects
 * both alike. The next round takes the remedies in the opposite order, and begins with another run
 * without one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tries/tries.h"
#include "core/util/clock.h"

#define RUNS_OF_PAIR 1.5 /* runs for each pair, in this order */
#define FOR_BEST                                                                                   \
	0.25 /* of the time: for more pairs of promising remedies, and for those that help, together */

/* ---- pairs ---- */

static void keep_pair(struct try_trial *trial, const struct try_figures *without)
{
	const struct try_figures *with = &trial->with;
	uint32_t n = trial->pairs.n;

	qz_pairs__add(&trial->pairs, with->elapsed_ns, without->elapsed_ns);
	if (trial->pairs.n == n)
		return;
	trial->without = *without;
	trial->with_ns[n] = with->elapsed_ns;
	trial->without_ns[n] = without->elapsed_ns;
	trial->cpu[n] = without->cpu_ns ? (double)with->cpu_ns / (double)without->cpu_ns : 1;
	trial->peak[n] = with->peak_kib && without->peak_kib
				 ? (double)with->peak_kib / (double)without->peak_kib
				 : 0;
}

static void show_progress(const struct tries *t, const struct try_trial *trial)
{
	uint64_t at = qz_clock__now();

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%u s left: %s",
			(unsigned int)((t->runs.deadline - at) / 1000000000),
			trial->n > 1 ? "what helps, together" : trial->uses[0]->name);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/*
 * Takes one pair. `behind`: the run without follows the one with the remedy. False: nothing more
 * can be run.
 */
static bool run_trial(struct tries *t, struct try_trial *trial, bool behind)
{
	enum run_outcome outcome;

	if (!behind && !t->fresh && tries__run_without(t) != RUN_DONE)
		return false;
	show_progress(t, trial);
	outcome = tries__run_with(t, trial);
	if (outcome == RUN_ENDED || (behind && tries__run_without(t) != RUN_DONE))
		return false;
	if (outcome == RUN_DONE)
		keep_pair(trial, &t->last);
	return true;
}

/*
 * Begins with a run without a remedy even after another such run: a disturbed run must not be in
 * two pairs of one remedy.
 */
static bool take_round(struct tries *t, struct try_trial *const *trials, uint32_t n, bool backwards)
{
	t->fresh = false;
	for (uint32_t i = 0; i < n; i++)
		if (!run_trial(t, trials[backwards ? n - 1 - i : i], i % 2))
			return false;
	return true;
}

/* ---- which ones ---- */

static uint64_t cost_ns(const struct tries *t, uint32_t trials, uint32_t rounds)
{
	double runs = trials == 1 ? 2 : RUNS_OF_PAIR * trials + 1;

	return (uint64_t)(runs * rounds * (double)tries__run_ns(t));
}

/* Two runs without a remedy, and the pairs of one remedy. */
uint64_t tries__least_ns(const struct tries *t, uint64_t run_ns)
{
	return (2 + 2 * (uint64_t)t->least) * run_ns;
}

/* How many of n remedies there is time for. */
static uint32_t fitting(const struct tries *t, uint32_t n)
{
	uint64_t reserve = (uint64_t)(FOR_BEST * (double)t->runs.limit_ns),
		 left = runs__left_ns(&t->runs);
	uint32_t k = 0;

	left = left > reserve ? left - reserve : 0;
	while (k < n && cost_ns(t, k + 1, t->least) <= left)
		k++;
	return k;
}

/* Of several values of a knob, only the best matters. */
static bool is_unsure(const struct tries *t, const struct try_trial *trial)
{
	return trial->started && !tries__judge(t, trial).enough &&
	       (!t->tunes || trial == tries__leader(t));
}

static uint32_t collect(struct tries *t, uint32_t from, uint32_t to, bool unsure,
			struct try_trial **found)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++)
		if (!*t->trials[i].failure && (!unsure || is_unsure(t, &t->trials[i])))
			found[n++] = &t->trials[i];
	return n;
}

/* Takes the least number of pairs of each remedy, in the order of the list. */
static bool try_all(struct tries *t, struct try_trial **found)
{
	for (uint32_t next = 0, n; next < t->n || (t->tunes && tune__add_values(t)); next += n) {
		n = fitting(t, t->n - next);
		if (!n && !next)
			n = 1;
		if (!n)
			break;
		for (uint32_t round = 0; round < t->least; round++)
			if (!take_round(t, found, collect(t, next, next + n, false, found),
					round % 2))
				return false;
	}
	return true;
}

/* ---- together ---- */

static bool excludes(const struct try_trial *trial, const struct qz_remedy_use *use)
{
	for (uint32_t i = 0; i < trial->n; i++)
		if (qz_remedy_use__excludes(trial->uses[i], use))
			return true;
	return false;
}

static const struct try_trial *next_best(const struct tries *t, const struct try_trial *together)
{
	const struct try_trial *best = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		if (tries__helps(t, &t->trials[i]) && !excludes(together, t->trials[i].uses[0]) &&
		    (!best || tries__judge(t, &t->trials[i]).gain > tries__judge(t, best).gain))
			best = &t->trials[i];
	return best;
}

/* Chooses the best remedy of each subject. */
static void choose_together(const struct tries *t, struct try_trial *together)
{
	const struct try_trial *best;

	*together = (struct try_trial) {0};
	while (together->n < TRIES_TOGETHER && (best = next_best(t, together)))
		together->uses[together->n++] = best->uses[0];
	if (together->n < 2)
		together->n = 0;
}

/* Sorts by gain so far, the largest first. */
static void sort_by_gain(const struct tries *t, struct try_trial **found, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct try_trial *trial = found[i];
		double gain = tries__judge(t, trial).gain;
		uint32_t k = i;

		for (; k && tries__judge(t, found[k - 1]).gain < gain; k--)
			found[k] = found[k - 1];
		found[k] = trial;
	}
}

/*
 * Takes more pairs of remedies without a clear verdict, and leaves time to try those that help,
 * together. When time gets short, only those with the largest gains.
 */
static bool try_unsure(struct tries *t, struct try_trial **found)
{
	for (uint32_t round = 0;; round++) {
		uint32_t n = collect(t, 0, t->n, true, found);
		struct try_trial together;
		uint64_t left = runs__left_ns(&t->runs), later;

		choose_together(t, &together);
		later = together.n ? 2 * cost_ns(t, 1, t->least) : 0;
		if (left < cost_ns(t, n, 1) + later)
			sort_by_gain(t, found, n);
		while (n && left < cost_ns(t, n, 1) + later)
			n--;
		if (!n)
			return true;
		if (!take_round(t, found, n, round % 2))
			return false;
	}
}

static void try_together(struct tries *t)
{
	struct try_trial *together = &t->together;

	choose_together(t, together);
	while (together->n && !*together->failure && !tries__judge(t, together).enough &&
	       runs__left_ns(&t->runs) >= cost_ns(t, 1, 1))
		if (!take_round(t, &together, 1, false))
			return;
}

void tries__measure(struct tries *t)
{
	struct try_trial *found[QZ_REMEDIES_MOST];

	/* the second run shows whether the output is always the same */
	for (int i = 0; i < 2; i++)
		if (tries__run_without(t) != RUN_DONE)
			return;
	if (try_all(t, found) && try_unsure(t, found))
		try_together(t);
	clear_progress();
}
