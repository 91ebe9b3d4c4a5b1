/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/replay/truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quartz/records.h"
#include "core/replay/what_if.h"
#include "tests/unit/core/replay/laws.h"

#define NONE REPLAY_NONE

struct truth {
	struct schedule *s;
	struct replay *r;
	struct laws *laws;
	const struct replay_thread **rows;  /* of each thread of the schedule */
	uint32_t *serials;		    /* the same */
	uint32_t objects[SCHEDULE_OBJECTS]; /* of the replay */
	uint32_t *scopes;
	uint32_t nrows, nwaits, nwakeups;
	bool takes; /* what has ended is taken out in between: then nothing is compared */
	uint32_t looks;
	const char *wrong;
};

static char said[256];

static void equal(struct truth *c, const char *what, uint64_t of, uint64_t is, uint64_t should)
{
	if (is == should || c->wrong)
		return;
	snprintf(said, sizeof(said), "%s of %llu: %llu, in truth %llu", what,
		 (unsigned long long)of, (unsigned long long)is, (unsigned long long)should);
	c->wrong = said;
}

/* Whether every single wait and wake-up is told; else only their times add up, for those of no time may be lost. */
static bool is_single(const struct truth *c)
{
	return !c->s->options.ties;
}

/* ---- threads ---- */

static void find_row(void *context, const struct replay_thread *t)
{
	struct truth *c = context;
	struct schedule *s = c->s;

	c->nrows++;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		if (c->rows[i] || s->threads[i].tid != t->tid || s->threads[i].began != t->began ||
		    s->threads[i].alive == t->ended)
			continue;
		if (t->ended && s->threads[i].ended != t->since)
			continue;
		if (t->process != s->processes[s->threads[i].process].pid)
			continue;
		c->rows[i] = t;
		c->serials[i] = t->serial;
		return;
	}
	/* one that was met before the record of its fork, at the same time, has no owner for no time */
	c->nrows--;
	equal(c, "a thread that there was not", t->tid, t->since - t->began, 0);
}

static bool is_followed(const struct schedule *s, const struct schedule_thread *t)
{
	return s->processes[t->process].scope != NONE;
}

static void compare_threads(struct truth *c)
{
	struct schedule *s = c->s;
	uint32_t n = 0;

	replay__each_thread(c->r, find_row, c);
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct schedule_thread *t = &s->threads[i];

		if (!is_followed(s, t))
			continue;
		n++;
		equal(c, "rows", t->tid, c->rows[i] != NULL, 1);
		if (!c->rows[i])
			continue;
		for (int k = 0; k < REPLAY_STATES; k++)
			equal(c, (const char *[]) {"unknown", "running", "ready", "blocked"}[k],
			      t->tid, c->rows[i]->ns[k], t->ns[k]);
		if (!t->alive && c->rows[i]->account_ns)
			equal(c, "the kernel's account", t->tid, c->rows[i]->account_ns,
			      t->ns[REPLAY_RUNNING] + (t->began == s->began ? 0 : 5));
	}
	equal(c, "number of threads", 0, c->nrows, n);
}

static bool is_near(uint64_t a, uint64_t b, uint64_t most)
{
	return a - b + most <= 2 * most;
}

/* Where clocks are off: the times of a thread are off by no more than each of its changes can be. */
static void compare_near(void *context, const struct replay_thread *row)
{
	struct truth *c = context;
	struct schedule *s = c->s;

	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct schedule_thread *t = &s->threads[i];
		uint64_t most = 2 * SCHEDULE_NEAR_NS * (t->changes + 2);

		if (c->serials[i] || t->tid != row->tid || t->alive == row->ended ||
		    !is_followed(s, t) || s->processes[t->process].pid != row->process ||
		    !is_near(t->began, row->began, 2 * SCHEDULE_NEAR_NS) ||
		    (row->ended && !is_near(t->ended, row->since, 2 * SCHEDULE_NEAR_NS)))
			continue;
		c->serials[i] = row->serial;
		for (int k = 0; k < REPLAY_STATES; k++)
			equal(c, "nearly the time", t->tid, is_near(row->ns[k], t->ns[k], most),
			      true);
		return;
	}
}

static void compare_times(struct truth *c)
{
	replay__each_thread(c->r, compare_near, c);
	for (uint32_t i = 0; i < c->s->nthreads; i++)
		if (is_followed(c->s, &c->s->threads[i]))
			equal(c, "nearly such rows", c->s->threads[i].tid, c->serials[i] != 0,
			      true);
}

/* ---- scopes ---- */

static void compare_levels(struct truth *c, const struct replay_scope *is, const uint64_t *level_ns)
{
	for (uint32_t i = 0; i <= c->s->options.processors; i++)
		equal(c, "time at a level", is->process, i < is->nlevels ? is->level_ns[i] : 0,
		      level_ns[i]);
}

static void compare_scopes(struct truth *c)
{
	struct schedule *s = c->s;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nscopes; i++) {
		const struct schedule_scope *scope = &s->scopes[i];
		const struct replay_scope *is = NULL;

		for (uint32_t k = 0; k < replay__scopes(c->r) && !is; k++) {
			is = replay__scope(c->r, k);
			c->scopes[i] = k;
			if (is->process != scope->process || is->began != scope->began)
				is = NULL;
		}
		equal(c, "scopes", scope->process, is != NULL, 1);
		if (!is)
			continue;
		equal(c, "end of the scope", scope->process, is->ended, scope->ended);
		compare_levels(c, is, scope->level_ns);
	}
	for (uint32_t k = 0; k < replay__scopes(c->r); k++)
		n += replay__scope(c->r, k) != NULL;
	equal(c, "number of scopes", 0, n, s->nscopes);
	compare_levels(c, replay__machine(c->r), s->machine_ns);
}

/* ---- objects ---- */

static void compare_objects(struct truth *c)
{
	struct schedule *s = c->s;

	for (uint32_t i = 0; i < s->nobjects; i++) {
		const struct schedule_object *o = &s->objects[i];
		const struct replay_object *is = NULL;
		bool waited = false;

		c->objects[i] = NONE;
		for (uint32_t k = 0; k < replay__objects(c->r) && !is; k++) {
			is = replay__object(c->r, k);
			if (is->address == o->address && is->tag == o->tag &&
			    (o->tag != QZ_TAG_FUTEX ||
			     is->process == s->processes[o->process].pid) &&
			    is->scope == c->scopes[o->scope])
				c->objects[i] = k;
			else
				is = NULL;
		}
		for (uint32_t k = 0; k < REPLAY_LENGTHS; k++)
			waited |= is_single(c) ? o->arrivals[k] : o->length_ns[k];
		equal(c, "objects", i, is != NULL || !waited, 1);
		if (!is)
			continue;
		equal(c, "time beyond", i, is->beyond_ns, o->beyond_ns);
		equal(c, "waiters", i, is->waiters, o->waiters);
		for (uint32_t k = 0; k < REPLAY_LENGTHS; k++) {
			equal(c, "time at a length", i, is->length_ns[k], o->length_ns[k]);
			if (is_single(c))
				equal(c, "arrivals", i, is->arrivals[k], o->arrivals[k]);
		}
		if (is_single(c))
			equal(c, "wakes", i, is->wakes, o->wakes);
	}
}

/* ---- waits and wake-ups ---- */

static uint32_t thread_of(const struct truth *c, uint32_t serial)
{
	for (uint32_t i = 0; i < c->s->nthreads; i++)
		if (serial && c->serials[i] == serial)
			return i;
	return NONE;
}

static uint32_t object_of(const struct truth *c, uint32_t object)
{
	for (uint32_t i = 0; i < c->s->nobjects; i++)
		if (object != NONE && c->objects[i] == object)
			return i;
	return NONE;
}

static void compare_wait(void *context, const struct replay_wait *w)
{
	struct truth *c = context;
	uint32_t i = thread_of(c, w->serial), object = object_of(c, w->object);
	const struct schedule_thread *t = &c->s->threads[i];
	const struct schedule_wait *should = NULL;

	if (!is_single(c) && !w->blocked_ns && !w->ready_ns)
		return;
	equal(c, "thread of a wait", w->serial, i != NONE, 1);
	for (uint32_t k = 0; i != NONE && k < t->nwaits && !should; k++)
		if (t->waits[k].site == w->site && t->waits[k].cause == w->cause &&
		    t->waits[k].object == object && t->waits[k].nominal == w->nominal)
			should = &t->waits[k];
	equal(c, "waits like this", w->site, should != NULL, 1);
	if (!should)
		return;
	c->nwaits++;
	equal(c, "place", w->site, w->place, w->site ? w->site + 7 : 0);
	equal(c, "time blocked in waits", t->tid, w->blocked_ns, should->blocked_ns);
	equal(c, "time ready in waits", t->tid, w->ready_ns, should->ready_ns);
	if (is_single(c))
		equal(c, "number of waits", t->tid, w->count, should->count);
}

static void compare_waits(struct truth *c)
{
	uint32_t n = 0;

	replay__each_wait(c->r, compare_wait, c);
	for (uint32_t i = 0; i < c->s->nthreads; i++)
		for (uint32_t k = 0; k < c->s->threads[i].nwaits; k++)
			n += is_followed(c->s, &c->s->threads[i]) &&
			     (is_single(c) || c->s->threads[i].waits[k].blocked_ns ||
			      c->s->threads[i].waits[k].ready_ns);
	equal(c, "number of different waits", 0, c->nwaits, n);
}

static void compare_wakeup(void *context, const struct replay_wakeup *w)
{
	struct truth *c = context;
	uint32_t waker = thread_of(c, w->waker), object = object_of(c, w->object);
	const struct schedule_wakeup *should = NULL;

	for (uint32_t i = 0; i < c->s->nwakeups && !should; i++) {
		const struct schedule_wakeup *k = &c->s->wakeups[i];

		if (k->waker == waker && k->object == object && k->scope != NONE &&
		    c->scopes[k->scope] == w->scope)
			should = k;
	}
	equal(c, "wake-ups like this", w->waker, should != NULL, 1);
	if (!should)
		return;
	c->nwakeups++;
	equal(c, "number of wake-ups", w->waker, w->count, should->count);
	equal(c, "time until woken", w->waker, w->blocked_ns, should->blocked_ns);
}

static void compare_wakeups(struct truth *c)
{
	uint32_t n = 0;

	replay__each_wakeup(c->r, compare_wakeup, c);
	for (uint32_t i = 0; i < c->s->nwakeups; i++)
		n += c->s->wakeups[i].scope != NONE;
	equal(c, "number of different wake-ups", 0, c->nwakeups, n);
}

static void compare_counts(struct truth *c)
{
	const struct replay_counts *counts = replay__counts(c->r);

	equal(c, "late records", 0, counts->late, 0);
	equal(c, "gaps", 0, counts->gaps, 0);
	equal(c, "impossible records", 0, counts->impossible, 0);
	if (!is_single(c))
		return;
	equal(c, "threads without a wake-up", 0, counts->unwoken, 0);
	equal(c, "threads without a fork", 0, counts->unborn, 0);
	equal(c, "threads without an end", 0, counts->unended, 0);
	equal(c, "records of nobody", 0, counts->strange, 0);
}

static void compare(struct truth *c)
{
	uint32_t n = c->s->nthreads;

	c->rows = calloc(n, sizeof(*c->rows));
	c->serials = calloc(n, sizeof(*c->serials));
	c->scopes = calloc(c->s->nscopes + 1, sizeof(*c->scopes));
	if (!c->rows || !c->serials || !c->scopes)
		abort();
	if (c->s->options.skew) {
		compare_times(c);
	} else {
		compare_threads(c);
		compare_scopes(c);
		compare_objects(c);
		compare_waits(c);
		compare_counts(c);
	}
	if (!c->s->options.skew && is_single(c))
		compare_wakeups(c);
	free(c->rows);
	free(c->serials);
	free(c->scopes);
}

/* ---- what if ---- */

/* Steps can be run again whatever the records say; without a candidate that was not met, nothing is gained. */
static void check_what_ifs(struct truth *c)
{
	struct replay_what_if w;

	for (uint32_t i = 0; !c->wrong && i < replay__scopes(c->r); i++) {
		if (replay__what_if(c->r, i, &w))
			continue;
		if (!w.again_ns)
			c->wrong = "nothing was run again";
		for (uint32_t k = 0; k < REPLAY_SPEEDS; k++)
			if (w.run_ns[1][k] + 1 < w.elapsed_ns || w.run_ns[1][k] > w.elapsed_ns + 1)
				c->wrong = "a candidate that was not met";
	}
}

/* ---- the whole ---- */

static const char *look(void *context, struct replay *r, uint64_t now)
{
	struct truth *c = context;

	return c->takes ? laws__take(c->laws, r, now, ++c->looks % 3)
			: laws__check(c->laws, r, now);
}

const char *truth__check(const struct schedule_options *options)
{
	const struct replay_options how = {.processors = options->processors,
					   .every_process = options->every_process,
					   .what_if = options->seed % 4 == 0};
	bool known = !options->gaps && !options->spans;
	struct truth c = {
		.s = schedule__make(options), .r = replay__new(&how), .laws = laws__new()};

	if (!c.r)
		abort();
	c.takes = !known && options->seed % 2;
	replay__know_candidate(c.r, 1);
	schedule__open_scopes(c.s, c.r);
	c.wrong = schedule__replay(c.s, c.r, look, &c);
	if (!c.wrong && known)
		compare(&c);
	if (!c.wrong && how.what_if)
		check_what_ifs(&c);
	if (c.wrong && c.wrong != said)
		snprintf(said, sizeof(said), "%s", c.wrong);
	c.wrong = c.wrong ? said : NULL;
	laws__free(c.laws);
	replay__free(c.r);
	schedule__free(c.s);
	return c.wrong;
}

struct schedule_options truth__options(uint64_t seed)
{
	struct schedule dice = {.random = (seed + 1) * 0xd6e8feb86659fd93u};
	uint32_t size = schedule__random(&dice, 1000);
	struct schedule_options options = {
		.seed = seed,
		.processors = 1 + schedule__random(&dice, size < 900 ? 6 : 64),
		.threads = 1 + schedule__random(&dice, size < 980   ? 16
						       : size < 997 ? 150
								    : 1000),
		.steps = 50 + schedule__random(&dice, size < 980 ? 600 : 4000),
		.step_ns = (uint64_t[]) {30, 1000, 30000, 3000000}[schedule__random(&dice, 4)],
		.every_process = schedule__random(&dice, 3),
	};
	uint32_t kind = schedule__random(&dice, 8);

	/* half of them are compared with the truth */
	options.ties = kind >= 3 && kind != 6;
	options.skew = kind == 4 || kind == 7;
	options.gaps = kind == 5 || kind == 7;
	options.spans = kind >= 6;
	return options;
}
