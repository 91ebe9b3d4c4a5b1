/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/replay/laws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By serial of a thread, or index of a scope or an object. */
struct sums {
	uint64_t blocked_ns, ready_ns, running_ns, count, calls;
	uint32_t alive, running, runnable, waiters;
};

struct table {
	struct sums *rows;
	uint32_t n;
};

struct laws {
	struct table threads, objects; /* of waits that were taken */
	uint64_t running_ns;	       /* of threads that were */
	/* of one check */
	struct table now_threads, now_objects, now_scopes;
	struct sums machine;
	const struct replay *r;
	bool open;
	const char *broken;
	char said[256];
};

struct laws *laws__new(void)
{
	struct laws *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	return l;
}

void laws__free(struct laws *l)
{
	free(l->threads.rows);
	free(l->objects.rows);
	free(l->now_threads.rows);
	free(l->now_objects.rows);
	free(l->now_scopes.rows);
	free(l);
}

static struct sums *table__at(struct table *t, uint32_t i)
{
	uint32_t n = t->n ?: 16;

	while (n <= i)
		n *= 2;
	if (n != t->n) {
		t->rows = realloc(t->rows, n * sizeof(*t->rows));
		if (!t->rows)
			abort();
		memset(t->rows + t->n, 0, (n - t->n) * sizeof(*t->rows));
		t->n = n;
	}
	return &t->rows[i];
}

static void table__clear(struct table *t)
{
	if (t->n)
		memset(t->rows, 0, t->n * sizeof(*t->rows));
}

static void require(struct laws *l, bool law, const char *what, uint64_t of, uint64_t is,
		    uint64_t should)
{
	if (law || l->broken)
		return;
	snprintf(l->said, sizeof(l->said), "%s of %llu: %llu, not %llu", what,
		 (unsigned long long)of, (unsigned long long)is, (unsigned long long)should);
	l->broken = l->said;
}

static void equal(struct laws *l, const char *what, uint64_t of, uint64_t is, uint64_t should)
{
	require(l, is == should, what, of, is, should);
}

/* ---- sums ---- */

static void add_wait(struct sums *s, const struct replay_wait *w, uint64_t count)
{
	s->blocked_ns += w->blocked_ns;
	s->ready_ns += w->ready_ns;
	s->count += count;
}

static void sum_wait(void *context, const struct replay_wait *w)
{
	struct laws *l = context;

	equal(l, "count of an open wait", w->serial, !w->count, l->open);
	add_wait(table__at(&l->now_threads, w->serial), w, l->open ? 1 : w->count);
	if (w->object != REPLAY_NONE)
		add_wait(table__at(&l->now_objects, w->object), w, l->open ? 1 : w->count);
}

static void count_state(struct sums *s, const struct replay_thread *t)
{
	s->running_ns += t->ns[REPLAY_RUNNING];
	if (t->ended)
		return;
	s->alive++;
	s->calls += t->transfers.reads + t->transfers.writes;
	s->running += t->state == REPLAY_RUNNING;
	s->runnable += t->state == REPLAY_RUNNING || t->state == REPLAY_READY;
}

static void sum_thread(void *context, const struct replay_thread *t)
{
	struct laws *l = context;

	count_state(&l->machine, t);
	/* a scope has the times of those that have ended itself */
	if (t->scope != REPLAY_NONE && !t->ended)
		count_state(table__at(&l->now_scopes, t->scope), t);
}

/* ---- laws ---- */

static void check_thread(void *context, const struct replay_thread *t)
{
	struct laws *l = context;
	const struct sums *taken = table__at(&l->threads, t->serial);
	const struct sums *now = table__at(&l->now_threads, t->serial);
	uint64_t sum = 0;

	for (int i = 0; i < REPLAY_STATES; i++)
		sum += t->ns[i];
	equal(l, "times of a thread", t->tid, sum, t->since - t->began);
	equal(l, "blocked waits of a thread", t->tid, taken->blocked_ns + now->blocked_ns,
	      t->ns[REPLAY_BLOCKED]);
	equal(l, "ready waits of a thread", t->tid, taken->ready_ns + now->ready_ns,
	      t->ns[REPLAY_READY]);
}

static void check_levels(struct laws *l, const struct replay_scope *s, const struct sums *now,
			 uint64_t running_ns, uint64_t until)
{
	uint64_t sum = 0, product = 0;

	for (uint32_t i = 0; i < s->nlevels; i++) {
		sum += s->level_ns[i];
		product += i * s->level_ns[i];
	}
	equal(l, "levels", s->process, sum + s->unknown_ns, s->since - s->began);
	require(l, s->since >= (s->ended ?: until), "levels up to now", s->process, s->since,
		until);
	if (!s->unknown_ns)
		equal(l, "levels times their time", s->process, product, running_ns);
	require(l, product <= running_ns, "levels times their time", s->process, product,
		running_ns);
	equal(l, "running threads", s->process, s->running, now->running);
	equal(l, "runnable threads", s->process, s->runnable, now->runnable);
}

static void check_scope(struct laws *l, uint32_t i, uint64_t until)
{
	const struct replay_scope *s = replay__scope(l->r, i);
	const struct sums *now = table__at(&l->now_scopes, i);

	if (!s) {
		equal(l, "threads of a dropped scope", i, now->alive, 0);
		return;
	}
	equal(l, "threads alive", s->process, s->alive, now->alive);
	require(l, s->alive <= s->threads, "threads ever", s->process, s->threads, s->alive);
	require(l, s->threads_started <= s->threads, "threads started", s->process,
		s->threads_started, s->threads);
	require(l, now->calls <= s->transfers.reads + s->transfers.writes, "calls of threads",
		s->process, now->calls, s->transfers.reads + s->transfers.writes);
	require(l, !s->ended || !s->alive, "threads after the end", s->process, s->alive, 0);
	check_levels(l, s, now, s->ns[REPLAY_RUNNING] + now->running_ns, until);
}

/* A thread stands in the queue as long as it is blocked, so the queue's times are those of the waits. */
static void check_object(struct laws *l, uint32_t i)
{
	const struct replay_object *o = replay__object(l->r, i);
	struct sums *taken = table__at(&l->objects, i), *now = table__at(&l->now_objects, i);
	uint64_t time = 0, product = 0, arrivals = 0;

	if (!o) {
		equal(l, "waits at a dropped object", i, now->count, 0);
		return;
	}
	for (uint32_t n = 0; n < REPLAY_LENGTHS; n++) {
		time += o->length_ns[n];
		product += n < REPLAY_LENGTHS - 1 ? n * o->length_ns[n] : 0;
		arrivals += o->arrivals[n];
	}
	equal(l, "time in the queue", i, product + o->beyond_ns,
	      taken->blocked_ns + now->blocked_ns);
	equal(l, "arrivals", i, arrivals, taken->count + now->count);
	require(l, o->held_ns <= time, "time held", i, o->held_ns, time);
	require(l, o->held_running_ns <= o->held_ns, "time held running", i, o->held_running_ns,
		o->held_ns);
	require(l, o->waiters <= arrivals, "waiters", i, o->waiters, arrivals);
	require(l, o->wakes <= arrivals, "wakes", i, o->wakes, arrivals);
}

const char *laws__check(struct laws *l, struct replay *r, uint64_t now)
{
	replay__advance(r, now);
	l->r = r;
	l->broken = NULL;
	l->machine = (struct sums) {0};
	table__clear(&l->now_threads);
	table__clear(&l->now_objects);
	table__clear(&l->now_scopes);
	l->open = false;
	replay__each_wait(r, sum_wait, l);
	l->open = true;
	replay__each_open_wait(r, sum_wait, l);
	replay__each_thread(r, sum_thread, l);
	replay__each_thread(r, check_thread, l);
	check_levels(l, replay__machine(r), &l->machine, l->running_ns + l->machine.running_ns,
		     now);
	for (uint32_t i = 0; i < replay__scopes(r); i++)
		check_scope(l, i, now);
	for (uint32_t i = 0; i < replay__objects(r); i++)
		check_object(l, i);
	return l->broken;
}

/* ---- taking ---- */

static void take_wait(void *context, const struct replay_wait *w)
{
	struct laws *l = context;

	add_wait(table__at(&l->threads, w->serial), w, w->count);
	if (w->object != REPLAY_NONE)
		add_wait(table__at(&l->objects, w->object), w, w->count);
}

static void take_thread(void *context, const struct replay_thread *t)
{
	struct laws *l = context;

	if (t->ended)
		l->running_ns += t->ns[REPLAY_RUNNING];
}

const char *laws__take(struct laws *l, struct replay *r, uint64_t now, uint32_t nth)
{
	const char *broken = laws__check(l, r, now);

	if (broken)
		return broken;
	replay__each_wait(r, take_wait, l);
	replay__each_thread(r, take_thread, l);
	replay__drop_ended(r);
	for (uint32_t i = 0; i < replay__scopes(r); i++)
		if (replay__scope(r, i) && replay__scope(r, i)->ended)
			replay__drop_scope(r, i);
	for (uint32_t i = 0; nth && i < replay__objects(r); i += nth)
		replay__drop_object(r, i);
	for (uint32_t i = 0; i < replay__objects(r); i++)
		if (!replay__object(r, i))
			*table__at(&l->objects, i) = (struct sums) {0};
	replay__clear_waits(r, true);
	return laws__check(l, r, now);
}
