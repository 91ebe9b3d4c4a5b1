/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the steps of a scope's threads again, on a given number of processors. Of the threads that are ready, the one that
 * has run least runs first, as in Linux's fair scheduler. A thread that was blocked has run less, and may take the processor
 * of one that ran longer.
 */
#include <stdlib.h>
#include <string.h>

#include "core/replay/steps.h"

enum state {
	NOT_BEGUN,
	ON_ITS_WAY, /* it was woken and will be on a processor soon, or will be at a step that needs none */
	MOVING, /* it passes steps that need no processor */
	READY,
	RUNNING,
	BLOCKED, /* at a WAIT */
	HELD,	 /* at a WAKE, until the other thread has come to the WAIT that it depends on */
	ASLEEP,
	DONE,
};

struct runner {
	enum state state;
	uint32_t step;	 /* the next one */
	uint32_t missed; /* while it is HELD: that WAIT */
	uint32_t cpu;	 /* where it ran last */
	uint32_t armed;	 /* number of its valid timer; older ones are ignored */
	uint64_t left;	 /* ns to run before the step */
	uint64_t since;	 /* when it began to run */
	uint64_t ran;	 /* virtual running time, as the scheduler counts it */
};

/* An entry of a heap; the least key comes first. */
struct entry {
	uint64_t key;
	uint32_t thread, number;
};

struct heap {
	struct entry *items;
	uint32_t n, room;
};

struct cpu {
	uint32_t running; /* or REPLAY_NONE */
	struct heap ready;
	uint64_t least; /* about the least `ran` of the threads here */
};

#define GIVEN	1 /* of a WAIT: its WAKE has come */
#define ARRIVED 2 /* of a WAIT: its thread has come there */

struct rerun {
	const struct replay_steps *all;
	const struct rerun_options *o;
	struct runner *runners;
	uint8_t *met; /* by step */
	struct heap timers;
	struct cpu *cpus;
	uint32_t ncpus, idle;
	uint32_t alive, spared, numbers;
	uint64_t now;
	uint64_t ended, last;
	bool failed;
};

/* ---- heaps ---- */

static bool entry__less(const struct entry *a, const struct entry *b)
{
	return a->key != b->key ? a->key < b->key : (int32_t)(a->number - b->number) < 0;
}

static void heap__push(struct rerun *r, struct heap *h, struct entry e)
{
	uint32_t i = h->n;

	if (h->n == h->room) {
		uint32_t room = h->room ? 2 * h->room : 64;
		struct entry *more = realloc(h->items, room * sizeof(*more));

		if (!more) {
			r->failed = true;
			return;
		}
		h->items = more;
		h->room = room;
	}
	for (h->n++; i && entry__less(&e, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = e;
}

static struct entry heap__pop(struct heap *h)
{
	struct entry first = h->items[0], e = h->items[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && entry__less(&h->items[child + 1], &h->items[child]))
			child++;
		if (!entry__less(&h->items[child], &e))
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = e;
	return first;
}

static void arm(struct rerun *r, uint32_t t, uint64_t at)
{
	r->runners[t].armed = ++r->numbers;
	heap__push(r, &r->timers, (struct entry) {at, t, r->numbers});
}

/* ---- processors ---- */

static void pause_running(const struct rerun *r, struct runner *w)
{
	uint64_t ns = r->now - w->since;

	w->left -= ns < w->left ? ns : w->left;
	w->ran += ns;
	w->since = r->now;
}

/* Sets the timer: for its next step, or for the end of its slice if other threads are ready here. */
static void arm_running(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];
	uint64_t ns = w->left;

	if (r->cpus[w->cpu].ready.n && ns > r->o->by.slice)
		ns = r->o->by.slice;
	arm(r, t, r->now + ns);
}

/* `least` never decreases. */
static void update_least(struct cpu *c, const struct runner *running)
{
	uint64_t least = running->ran;

	if (c->ready.n && c->ready.items[0].key < least)
		least = c->ready.items[0].key;
	if (least > c->least)
		c->least = least;
}

/* Converts its running time to that of another processor, whose threads may have run more or less. */
static void move(const struct rerun *r, struct runner *w, uint32_t cpu)
{
	if (w->cpu != REPLAY_NONE && w->cpu != cpu)
		w->ran = w->ran + r->cpus[cpu].least > r->cpus[w->cpu].least
				 ? w->ran + r->cpus[cpu].least - r->cpus[w->cpu].least
				 : 0;
	else if (w->cpu == REPLAY_NONE)
		w->ran = r->cpus[cpu].least;
	w->cpu = cpu;
}

static void start(struct rerun *r, uint32_t t, uint32_t cpu)
{
	struct runner *w = &r->runners[t];
	struct cpu *c = &r->cpus[cpu];

	r->idle -= c->running == REPLAY_NONE;
	c->running = t;
	w->state = RUNNING;
	w->since = r->now;
	move(r, w, cpu);
	update_least(c, w);
	arm_running(r, t);
}

static void push_ready(struct rerun *r, uint32_t t, uint32_t cpu)
{
	move(r, &r->runners[t], cpu);
	r->runners[t].state = READY;
	heap__push(r, &r->cpus[cpu].ready, (struct entry) {r->runners[t].ran, t, ++r->numbers});
	if (r->cpus[cpu].ready.n == 1 && r->cpus[cpu].running != REPLAY_NONE) {
		pause_running(r, &r->runners[r->cpus[cpu].running]);
		arm_running(r, r->cpus[cpu].running);
	}
}

static void take_off(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	pause_running(r, w);
	update_least(&r->cpus[w->cpu], w);
	r->cpus[w->cpu].running = REPLAY_NONE;
	r->idle++;
}

static uint32_t load_of(const struct cpu *c)
{
	return c->ready.n + (c->running != REPLAY_NONE);
}

/* The processor that has the most threads, or the least. */
static uint32_t find_cpu(const struct rerun *r, bool most)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < r->ncpus; i++)
		if (most ? load_of(&r->cpus[i]) > load_of(&r->cpus[best])
			 : load_of(&r->cpus[i]) < load_of(&r->cpus[best]))
			best = i;
	return best;
}

/* An idle processor takes a thread that is ready here, or else elsewhere. */
static void start_next(struct rerun *r, uint32_t cpu)
{
	struct cpu *from = &r->cpus[cpu];

	if (!from->ready.n)
		from = &r->cpus[find_cpu(r, true)];
	if (from->ready.n)
		start(r, heap__pop(&from->ready).thread, cpu);
}

/* Its last processor, unless that is busy and another one is idle or has two threads less. */
static uint32_t choose_cpu(const struct rerun *r, const struct runner *w)
{
	uint32_t cpu = find_cpu(r, false);
	const struct cpu *last = &r->cpus[w->cpu == REPLAY_NONE ? cpu : w->cpu];

	if (w->cpu == REPLAY_NONE)
		return cpu;
	if (last->running == REPLAY_NONE && !last->ready.n)
		return w->cpu;
	if (!r->idle && !last->ready.n)
		return w->cpu;
	return load_of(last) >= load_of(&r->cpus[cpu]) + 1 + !r->idle ? cpu : w->cpu;
}

static void make_ready(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];
	uint32_t cpu = choose_cpu(r, w), other;
	struct cpu *c = &r->cpus[cpu];
	uint64_t slice = r->o->by.slice;

	move(r, w, cpu);
	other = c->running;
	if (other == REPLAY_NONE) {
		if (w->ran < c->least)
			w->ran = c->least;
		start(r, t, cpu);
		return;
	}
	pause_running(r, &r->runners[other]);
	update_least(c, &r->runners[other]);
	if (c->least > slice && w->ran < c->least - slice)
		w->ran = c->least - slice;
	if (r->runners[other].ran > w->ran + r->o->by.margin) {
		take_off(r, other);
		push_ready(r, other, cpu);
		start(r, t, cpu);
	} else {
		push_ready(r, t, cpu);
	}
}

/* ---- steps ---- */

static uint64_t run_of(const struct rerun *r, uint32_t step)
{
	double run = r->all->steps[step].run;

	if (r->o->shares)
		run *= 1 - (double)r->o->shares[step] / (1u << r->o->speed);
	return (uint64_t)run;
}

static void finish(struct rerun *r, uint32_t t, const struct step *end)
{
	r->runners[t].state = DONE;
	r->alive--;
	r->last = r->now;
	if (end && !(end->flags & STEP_KILLED))
		r->ended = r->now;
}

/* Goes to the next step, which begins with the running time before it. */
static void pass(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	w->step = r->all->steps[w->step].next;
	w->left = w->step != REPLAY_NONE ? run_of(r, w->step) : 0;
}

static void set_out(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	w->state = ON_ITS_WAY;
	arm(r, t, r->now + (w->left ? r->all->steps[w->step].late : 0));
}

/* The thread has no processor, and has done its step. */
static void release(struct rerun *r, uint32_t t)
{
	pass(r, t);
	if (r->runners[t].step == REPLAY_NONE)
		finish(r, t, NULL);
	else
		set_out(r, t);
}

/* For a candidate that is an object: whether this wait does not happen. All, half or a quarter of its waits do not. */
static bool is_spared(struct rerun *r, const struct step *wait)
{
	const struct replay_steps *all = r->all;

	if (r->o->candidate == REPLAY_NONE || wait->object >= all->nobjects ||
	    all->candidate_of[wait->object] != r->o->candidate + 1)
		return false;
	return r->spared++ % (1u << r->o->speed) == 0;
}

/* Whether the thread can go on. */
static bool wait_at(struct rerun *r, uint32_t t, const struct step *s)
{
	struct runner *w = &r->runners[t];
	uint8_t *met = &r->met[w->step];
	uint32_t waker;

	if (s->other == REPLAY_NONE) {
		finish(r, t, NULL);
		return false;
	}
	if (s->flags & STEP_DROPPED)
		return true;
	*met |= ARRIVED;
	waker = s->need != REPLAY_NONE ? r->all->steps[s->need].thread : t;
	if (r->runners[waker].state == HELD && r->runners[waker].missed == w->step)
		set_out(r, waker);
	if (*met & GIVEN || is_spared(r, s))
		return true;
	w->state = BLOCKED;
	return false;
}

/* A WAIT that has to come before this WAKE, or before those of the same burst; or REPLAY_NONE. */
static uint32_t missed_by(const struct rerun *r, const struct step *s)
{
	for (;; s = &r->all->steps[s->next]) {
		if (s->kind != STEP_WAKE)
			continue;
		if (s->need != REPLAY_NONE && !(r->met[s->need] & ARRIVED))
			return s->need;
		if (!(s->flags & STEP_BURST))
			return REPLAY_NONE;
	}
}

static bool wake(struct rerun *r, uint32_t t, const struct step *s)
{
	const struct step *wait = &r->all->steps[s->other];
	struct runner *w = &r->runners[wait->thread];
	uint32_t missed = missed_by(r, s);

	if (missed != REPLAY_NONE) {
		r->runners[t].state = HELD;
		r->runners[t].missed = missed;
		return false;
	}
	r->met[s->other] |= GIVEN;
	if (w->state == BLOCKED && w->step == s->other)
		release(r, wait->thread);
	return true;
}

static void begin(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	w->cpu = REPLAY_NONE;
	w->step = r->all->threads[t].first;
	if (w->step == REPLAY_NONE) {
		finish(r, t, NULL);
		return;
	}
	w->left = run_of(r, w->step);
	set_out(r, t);
}

/* Does the step, before which nothing is left to run. Returns whether the thread goes on. */
static bool take_step(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];
	const struct step *s = &r->all->steps[w->step];

	switch (s->kind) {
	case STEP_WAIT:
		return wait_at(r, t, s);
	case STEP_WAKE:
		return wake(r, t, s);
	case STEP_SLEEP:
		w->state = ASLEEP;
		arm(r, t, r->now + step__sleep(s));
		return false;
	case STEP_FORK:
		if (r->runners[s->other].state == NOT_BEGUN) {
			begin(r, s->other);
		}
		return true;
	case STEP_END:
		finish(r, t, s);
		return false;
	}
	return true;
}

/* Does steps until the thread has to run or to wait. A thread that ran keeps its processor meanwhile. */
static void go_on(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	while (!w->left && take_step(r, t)) {
		pass(r, t);
		if (w->step == REPLAY_NONE) {
			finish(r, t, NULL);
			break;
		}
	}
	if (w->state == MOVING)
		set_out(r, t);
	else if (w->state == RUNNING)
		arm_running(r, t);
}

/* ---- time ---- */

/* A running thread has come to its step, or to the end of its slice. */
static void turn(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];
	uint32_t cpu = w->cpu;
	const struct heap *ready = &r->cpus[cpu].ready;

	pause_running(r, w);
	if (w->left && (!ready->n || ready->items[0].key >= w->ran)) {
		arm_running(r, t);
		return;
	}
	if (w->left) {
		take_off(r, t);
		push_ready(r, t, choose_cpu(r, w));
	} else {
		go_on(r, t);
		if (w->state == RUNNING)
			return;
		take_off(r, t);
	}
	start_next(r, cpu);
}

static void tick(struct rerun *r, uint32_t t)
{
	struct runner *w = &r->runners[t];

	switch (w->state) {
	case NOT_BEGUN:
		begin(r, t);
		return;
	case ON_ITS_WAY:
		if (w->left) {
			make_ready(r, t);
		} else {
			w->state = MOVING;
			go_on(r, t);
		}
		return;
	case ASLEEP:
		release(r, t);
		return;
	case RUNNING:
		break;
	default:
		return;
	}
	turn(r, t);
}

/*
 * No thread can go on: a dependency was assumed that there was not, or steps were lost. The thread that waited first in
 * the log goes on.
 */
static bool force(struct rerun *r)
{
	uint32_t first = REPLAY_NONE;

	for (uint32_t t = 0; t < r->all->nthreads; t++) {
		const struct runner *w = &r->runners[t];

		if ((w->state == BLOCKED || w->state == HELD) &&
		    (first == REPLAY_NONE || w->step < r->runners[first].step))
			first = t;
	}
	if (first == REPLAY_NONE)
		return false;
	if (r->runners[first].state == HELD) {
		r->met[r->runners[first].missed] |= ARRIVED;
		set_out(r, first);
	} else {
		release(r, first);
	}
	return true;
}

static void begin_all(struct rerun *r)
{
	uint64_t from = UINT64_MAX;

	for (uint32_t t = 0; t < r->all->nthreads; t++) {
		const struct step_thread *thread = &r->all->threads[t];

		if (thread->scope == r->o->scope && thread->from < from)
			from = thread->from;
	}
	for (uint32_t t = 0; t < r->all->nthreads; t++) {
		const struct step_thread *thread = &r->all->threads[t];

		if (thread->scope != r->o->scope) {
			r->runners[t].state = DONE;
			continue;
		}
		r->alive++;
		if (!thread->created)
			arm(r, t, thread->from - from);
	}
}

static void run(struct rerun *r)
{
	r->idle = r->ncpus;
	for (uint32_t i = 0; i < r->ncpus; i++)
		r->cpus[i].running = REPLAY_NONE;
	begin_all(r);
	while (r->alive && !r->failed) {
		struct entry e;

		if (!r->timers.n) {
			if (!force(r))
				break;
			continue;
		}
		e = heap__pop(&r->timers);
		if (r->runners[e.thread].armed != e.number)
			continue;
		r->now = e.key;
		tick(r, e.thread);
	}
}

uint64_t rerun__run(const struct replay_steps *all, const struct rerun_options *options)
{
	struct rerun r = {.all = all, .o = options};
	uint64_t ns = 0;

	r.runners = calloc(all->nthreads + 1ul, sizeof(*r.runners));
	r.met = calloc(all->n + 1ul, 1);
	r.ncpus = all->nthreads < options->processors ? all->nthreads : options->processors;
	r.cpus = calloc(r.ncpus + 1ul, sizeof(*r.cpus));
	if (r.runners && r.met && r.cpus) {
		run(&r);
		if (!r.failed)
			ns = (all->full || !r.ended ? r.last : r.ended) ?: 1;
	}
	free(r.runners);
	free(r.met);
	for (uint32_t i = 0; r.cpus && i < r.ncpus; i++)
		free(r.cpus[i].ready.items);
	free(r.cpus);
	free(r.timers.items);
	return ns;
}
