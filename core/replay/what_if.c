/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/replay/what_if.h"

#include <errno.h>
#include <stdlib.h>

#include "core/replay/steps.h"

/*
 * Scheduling rules to choose from, since those of the kernel are not known in full. The rules that reproduce the recorded run
 * best are used, and their results are the bounds of the figure. The first two are the usual ones: Linux's fair
 * scheduler on two processors, since 6.6 and before.
 */
static const struct scheduling rules[] = {
	{1500000, 1500000}, {1500000, 1000000}, {3000000, 3000000}, {3000000, 1000000},
	{750000, 500000},   {6000000, 6000000}, {250000, 250000},
};

#define RULES (sizeof(rules) / sizeof(*rules))
#define USED  4

#define HOLD_SPREAD                                                                                \
	0.15 /* relative error of the time that a lock is held, of which the log has only a part */

struct calibration {
	uint32_t n;
	struct scheduling by[USED];
	uint64_t again_ns[USED];
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The number of rules that make a difference: none does if each thread has a processor. */
static uint32_t count_rules(const struct replay_steps *all, const struct rerun_options *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->nthreads; i++)
		n += all->threads[i].scope == o->scope;
	return n > o->processors ? RULES : 1;
}

/* Runs the steps again unchanged, by each rule. 0 or -ENOMEM. */
static int calibrate(const struct replay_steps *all, struct rerun_options *o, uint64_t kept_ns,
		     struct calibration *c)
{
	uint32_t n = count_rules(all, o);
	uint64_t again[RULES], least = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		o->by = rules[i];
		again[i] = rerun__run(all, o);
		if (!again[i])
			return -ENOMEM;
		if (distance(again[i], kept_ns) < least)
			least = distance(again[i], kept_ns);
	}
	for (uint32_t i = 0; i < n && c->n < USED; i++) {
		if (distance(again[i], kept_ns) - least > kept_ns / 100)
			continue;
		c->by[c->n] = rules[i];
		c->again_ns[c->n++] = again[i];
	}
	return 0;
}

/* The running time of the thread, and the candidate's part of it. */
static void add_thread(const struct replay_steps *all, const struct step_thread *t,
		       const float *shares, uint32_t candidate, struct replay_what_if *w)
{
	double run = 0, work = 0;
	bool counts = false;

	for (uint32_t i = t->first; i != REPLAY_NONE; i = all->steps[i].next) {
		run += all->steps[i].run;
		work += (double)all->steps[i].run * (double)shares[i];
		counts |= all->steps[i].kind == STEP_END && !(all->steps[i].flags & STEP_KILLED);
		counts |= all->full != 0;
	}
	if (all->full ||
	    all->part) { /* steps that were not kept are assumed to be like the others */
		run *= (double)w->elapsed_ns / (double)w->kept_ns;
		work *= (double)w->elapsed_ns / (double)w->kept_ns;
	}
	w->work_ns[candidate] += steps__ns(work);
	for (uint32_t k = 0; counts && k < REPLAY_SPEEDS; k++) {
		uint64_t left = steps__ns(run - work / (1u << k));

		if (left > w->most_ns[candidate][k])
			w->most_ns[candidate][k] = left;
	}
}

/* Not less than the time for which a lock is held, nor more than the whole took. */
static double at_least(uint64_t ns, double hold, uint64_t all_ns)
{
	if (hold > (double)all_ns)
		hold = (double)all_ns;
	return (double)ns > hold ? (double)ns : hold;
}

/* The time before the first kept step. */
static double elapsed_before(const struct replay_what_if *w)
{
	return w->elapsed_ns > w->kept_ns ? (double)(w->elapsed_ns - w->kept_ns) : 0;
}

/* One figure by each rule. 0 or -ENOMEM. */
static int run_each(const struct replay_steps *all, struct rerun_options *o,
		    const struct calibration *c, struct replay_what_if *w)
{
	/* steps that were not kept are assumed to be like the others; time before the first thread stays */
	bool part = all->full || all->part;
	double elapsed = (double)(part ? w->elapsed_ns : w->kept_ns);
	double rest = part ? 0 : elapsed_before(w), sum = 0;
	uint64_t *low = &w->low_ns[o->candidate][o->speed];
	uint64_t *high = &w->high_ns[o->candidate][o->speed];
	double hold = locks__hold(all, o, w->kept_ns), scale, least, most;

	if (hold < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t ns;

		o->by = c->by[i];
		ns = rerun__run(all, o);
		if (!ns)
			return -ENOMEM;
		scale = elapsed / (double)c->again_ns[i];
		least = at_least(ns, hold - hold * HOLD_SPREAD, c->again_ns[i]) * scale + rest;
		most = at_least(ns, hold + hold * HOLD_SPREAD, c->again_ns[i]) * scale + rest;
		sum += at_least(ns, hold, c->again_ns[i]) * scale + rest;
		*low = !i || least < (double)*low ? steps__ns(least) : *low;
		*high = most > (double)*high ? steps__ns(most) : *high;
	}
	w->run_ns[o->candidate][o->speed] = steps__ns(sum / c->n);
	return 0;
}

static int run_without(const struct replay_steps *all, struct rerun_options *o,
		       const struct calibration *c, float *shares, struct replay_what_if *w)
{
	int err = 0;

	shares__find(all, o->candidate, shares);
	for (uint32_t i = 0; i < all->nthreads; i++)
		if (all->threads[i].scope == o->scope)
			add_thread(all, &all->threads[i], shares, o->candidate, w);
	o->shares = shares;
	for (o->speed = 0; !err && o->speed < REPLAY_SPEEDS; o->speed++)
		err = run_each(all, o, c, w);
	return err;
}

/* The elapsed time that the kept steps of a scope span. */
static uint64_t kept(const struct replay_steps *all, uint32_t scope, uint64_t until,
		     struct replay_what_if *w)
{
	uint64_t from = UINT64_MAX;

	if (all->full && all->full < until)
		until = all->full;
	for (uint32_t i = 0; i < all->nthreads; i++) {
		const struct step_thread *t = &all->threads[i];

		if (t->scope != scope)
			continue;
		from = t->from < from ? t->from : from;
		w->spinning += t->spins;
		w->samples += t->samples;
	}
	return from < until ? until - from : 0;
}

int replay__what_if(const struct replay *r, uint32_t scope, struct replay_what_if *w)
{
	const struct replay_scope *s = replay__scope(r, scope);
	struct replay_steps *all = r->steps;
	struct rerun_options o = {
		.scope = scope, .processors = r->machine->limit ?: 1, .candidate = REPLAY_NONE};
	struct calibration c = {0};
	uint64_t until;
	float *shares;
	int err;

	*w = (struct replay_what_if) {0};
	if (!s || !all || !s->ended)
		return -ENOENT;
	if (all->failed)
		return -ENOMEM;
	until = s->ended ?: r->now;
	w->kept_ns = kept(all, scope, until, w);
	w->elapsed_ns = until - s->began;
	if (!w->kept_ns)
		return -ENOENT;
	shares = calloc(all->n + 1ul, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	shares__learn(all);
	err = rules__apply(all);
	err = err ?: calibrate(all, &o, w->kept_ns, &c);
	w->again_ns = c.again_ns[0];
	for (o.candidate = 0; !err && o.candidate < all->candidates; o.candidate++)
		err = run_without(all, &o, &c, shares, w);
	w->inside_ns = all->inside_ns;
	w->outside_ns = all->outside_ns;
	free(shares);
	return err;
}
