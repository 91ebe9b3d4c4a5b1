/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/alone.h"

#include <errno.h>
#include <stdlib.h>

#include "core/advise/closeness.h"
#include "core/advise/jobs.h"
#include "core/advise/own_time.h"
#include "core/model/frames.h"

/* A phase is spoken of from this share of the elapsed time on. */
#define LEAST 0.04

/* A procedure represents a phase if it has this share of its time. */
#define COVERS 0.8

/* Of code that several threads run, one does so alone when it has so much of the time alone, and seldom runs it beside others. */
#define ALONE 0.8

/* A thread takes part in a phase with this share of its processor time. */
#define TAKES_PART 0.03

/* While one thread works, those that it keeps from a lock wait for it: blocked time, of the time alone. */
#define WAITED 0.25

/*
 * Processes that share work run at the same time for this part of the time in which one of them works alone. A shell
 * and its children, which wait for each other, run the same code and share nothing: 1 % (nested command substitutions).
 */
#define AT_ONCE 0.05

/* ---- which code ---- */

/* All procedures, by number. */
struct code {
	uint32_t n;
	const struct qz_own_time *times;
	const enum qz_closeness *close;
};

/* The most that one procedure of such code, single or shared, has of the serial time. */
static uint64_t most_of(const struct code *c, bool single, enum qz_closeness least_close)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (qz_own_time__is_single(&c->times[i]) == single &&
		    c->times[i].serial_ns > most && c->close[i] >= least_close)
			most = c->times[i].serial_ns;
	return most;
}

/* Whether a procedure covers a phase better than another one: it has code of its own, or it is within that. */
static bool covers_better(const struct qz_own_time *t, const struct qz_own_time *best,
			  uint64_t most)
{
	uint64_t much = most / 10;

	if (t->code_ns > much)
		return t->code_ns > best->code_ns;
	return best->code_ns <= much && t->cpu_ns < best->cpu_ns;
}

/* The procedure that covers a phase, of code as close as this or closer. QZ_NONE: there is none. */
static uint32_t find_phase(const struct code *c, bool single, enum qz_closeness least_close)
{
	uint64_t most = most_of(c, single, least_close);
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; most && i < c->n; i++) {
		int nearer = (int)c->close[i] - (best == QZ_NONE ? -1 : (int)c->close[best]);

		if (qz_own_time__is_single(&c->times[i]) != single || c->close[i] < least_close ||
		    (double)c->times[i].serial_ns < COVERS * (double)most)
			continue;
		if (nearer > 0 || (!nearer && covers_better(&c->times[i], &c->times[best], most)))
			best = i;
	}
	return best;
}

/*
 * The code around what a single worker shares with the thread that started it, as of OpenMP, is run by that
 * worker alone; it is no phase of its own. Such code is farther from the program than what is shared.
 */
static uint32_t find_single(const struct code *c)
{
	uint64_t any = most_of(c, true, QZ_CLOSE_NOT), own = most_of(c, true, QZ_CLOSE_OWN);

	if ((double)own >= COVERS * (double)any ||
	    (double)most_of(c, false, QZ_CLOSE_OWN) >= COVERS * (double)any)
		return find_phase(c, true, QZ_CLOSE_OWN);
	return find_phase(c, true, QZ_CLOSE_NOT);
}

static uint32_t find_code(const struct code *c)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < c->n; i++)
		if (c->times[i].code_ns > c->times[best].code_ns)
			best = i;
	return best;
}

/* ---- which threads ---- */

static bool runs(const struct qz_profile *p, uint32_t node, uint32_t procedure)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE &&
	       p->procedures[frame].kind != QZ_PROCESS_START)
		if (frame == procedure)
			return true;
	return false;
}

/* Of a thread in the shared phase. */
struct share {
	uint64_t cpu_ns;
	uint64_t alone_ns; /* of it, while nothing else worked */
};

/* By the index of the thread in the profile. */
static void add_times(const struct qz_report *r, const struct qz_alone *a,
		      const struct qz_cost_walk *costs, struct share *shares)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope == r->scope && s->thread != QZ_NONE && !s->spinning &&
		    runs(p, s->node, a->shared_phase) && qz_own_time__is_work(costs, s->node)) {
			shares[s->thread].cpu_ns += s->cpu_ns;
			shares[s->thread].alone_ns += s->busy == 1 ? s->cpu_ns : 0;
		}
	}
}

/*
 * The thread that runs the phase alone, and the others together at another time: a serial phase in code that has no name of its
 * own. Who still works when others have done their part has worked beside them. QZ_NONE: there is none.
 */
static uint32_t find_lone(const struct share *shares, uint32_t n)
{
	struct share all = {0}, others, one;
	uint32_t best = 0;

	for (uint32_t i = 0; i < n; i++) {
		all.cpu_ns += shares[i].cpu_ns;
		all.alone_ns += shares[i].alone_ns;
		best = shares[i].alone_ns > shares[best].alone_ns ? i : best;
	}
	one = shares[best];
	others = (struct share) {all.cpu_ns - one.cpu_ns, all.alone_ns - one.alone_ns};
	return (double)one.alone_ns >= ALONE * (double)one.cpu_ns &&
			       (double)others.alone_ns <= (1 - ALONE) * (double)all.alone_ns &&
			       (double)others.alone_ns <= (1 - ALONE) * (double)others.cpu_ns
		       ? best
		       : QZ_NONE;
}

/* What the shared phase has is a phase of this thread, where no other one was found that is longer. */
static void take_lone(struct qz_alone *a, uint32_t thread)
{
	a->kind = QZ_ALONE_SERIAL;
	a->phase = a->code = a->shared_phase;
	a->thread = thread;
	a->ns = a->around_ns = a->shared_ns;
	a->shared_ns = 0;
}

/* Of threads or processes, from the beginning of the first one to the end of the last one. */
struct lives {
	uint64_t first, last;
	double sum;
};

static void lives__add(struct lives *l, uint64_t start_ns, uint64_t end_ns, uint64_t less_ns)
{
	uint64_t ns = end_ns - start_ns;

	l->first = start_ns < l->first ? start_ns : l->first;
	l->last = end_ns > l->last ? end_ns : l->last;
	l->sum += (double)(ns > less_ns ? ns - less_ns : 0);
}

/*
 * Whether they came one after another: their lives fill that time once. Of two that were started at once, one that lives a quarter
 * as long as the other adds a quarter.
 */
static bool lives__are_in_turn(const struct lives *l)
{
	return l->sum <= 1.2 * (double)(l->last - l->first);
}

/* Whether two threads of the scope ever ran at once for long, if only to spin. */
static bool ran_at_once(const struct qz_report *r, const struct qz_alone *a)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	uint64_t ns = 0;

	for (uint32_t n = 2; n < scope->nlevels; n++)
		ns += scope->level_ns[n];
	return (double)ns >= AT_ONCE * (double)a->shared_ns;
}

/*
 * Blocked time of those that take part at locks, and at what else threads meet. Who waits for their results does not. While one
 * works, the others would wait there: for less than a part of that, locks are not why they do nothing.
 */
static bool wait_for_locks(const struct qz_report *r, const struct qz_alone *a,
			   const struct share *shares)
{
	const struct qz_profile *p = r->profile;
	uint64_t locks = 0, others = 0;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		uint32_t kind;

		if (w->object == QZ_NONE || w->thread == QZ_NONE || !shares[w->thread].cpu_ns ||
		    !qz_scope__covers(p, r->scope, w->scope))
			continue;
		kind = p->objects[w->object].kind;
		if (kind == QZ_OBJECT_MUTEX || kind == QZ_OBJECT_RWLOCK || kind == QZ_OBJECT_LOCK)
			locks += w->blocked_ns;
		else if (kind != QZ_OBJECT_JOIN)
			others += w->blocked_ns;
	}
	return locks > others && (double)locks >= WAITED * (double)a->shared_ns;
}

static int find_sharers(const struct qz_report *r, struct qz_alone *a,
			const struct qz_cost_walk *costs, const uint64_t *child_ns)
{
	struct share *shares = calloc((size_t)r->profile->nthreads + 1, sizeof(*shares));
	const struct qz_thread *threads = r->profile->threads;
	struct lives lives = {.first = UINT64_MAX};
	uint64_t all = 0;
	uint32_t lone;

	if (!shares)
		return -ENOMEM;
	add_times(r, a, costs, shares);
	for (uint32_t i = 0; i < r->profile->nthreads; i++)
		all += shares[i].cpu_ns;
	a->locked = wait_for_locks(r, a, shares);
	a->least_ns = all;
	a->apart = true;
	for (uint32_t i = 0; i < r->profile->nthreads; i++) {
		uint64_t ns = shares[i].cpu_ns;

		if (!ns || (double)ns < TAKES_PART * (double)all)
			continue;
		a->sharers++;
		a->apart &= threads[i].tid == threads[i].pid;
		lives__add(&lives, threads[i].start_ns, threads[i].end_ns, child_ns[i]);
		a->most_ns = ns > a->most_ns ? ns : a->most_ns;
		a->least_ns = ns < a->least_ns ? ns : a->least_ns;
	}
	if (a->apart && (lives__are_in_turn(&lives) || !ran_at_once(r, a)))
		a->shared_ns = 0;
	lone = find_lone(shares, r->profile->nthreads);
	if (lone != QZ_NONE && a->sharers > 1 &&
	    (a->kind == QZ_ALONE_NOT || (a->kind == QZ_ALONE_SERIAL && a->ns < a->shared_ns)) &&
	    (double)a->shared_ns >= LEAST * (double)r->elapsed_ns)
		take_lone(a, lone);
	free(shares);
	return 0;
}

/* ---- which processes ---- */

static uint32_t find_thread(const struct qz_report *r)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < r->nthreads; i++)
		if (r->threads[i].figure.level_norm_ns[1] >
		    r->threads[best].figure.level_norm_ns[1])
			best = i;
	return r->threads[best].thread;
}

/* Who starts the jobs: what that does itself, before and after them, is none of them. NULL: no process waits for another one. */
static const struct qz_job *find_driver(const struct qz_job *jobs, uint32_t n)
{
	const struct qz_job *driver = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (jobs[i].child_ns > (driver ? driver->child_ns : 0))
			driver = &jobs[i];
	return driver;
}

/* Whether the jobs that have a part of the time ran one after another, and none has most of it. */
static bool are_in_turn(struct qz_alone *a, const struct qz_job *jobs, uint32_t n)
{
	const struct qz_job *driver = find_driver(jobs, n);
	struct lives lives = {.first = UINT64_MAX};
	uint64_t all = 0, most = 0;

	for (uint32_t i = 0; i < n; i++)
		all += jobs[i].alone_ns;
	a->driver_ns = driver ? driver->alone_ns : 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct qz_job *job = &jobs[i];

		if (job == driver || !job->alone_ns || (double)job->alone_ns < 0.01 * (double)all)
			continue;
		a->processes++;
		most = job->alone_ns > most ? job->alone_ns : most;
		a->longest_ns = job->running_ns > a->longest_ns ? job->running_ns : a->longest_ns;
		lives__add(&lives, job->start_ns, job->end_ns, job->child_ns);
	}
	return a->processes >= 2 && (double)most <= 0.75 * (double)all &&
	       lives__are_in_turn(&lives);
}

static int find_processes(const struct qz_report *r, struct qz_alone *a, const uint64_t *child_ns)
{
	uint32_t n;
	struct qz_job *jobs = qz_jobs__of(r, child_ns, &n);

	if (!jobs)
		return -ENOMEM;
	if (are_in_turn(a, jobs, n)) {
		a->kind = QZ_ALONE_PROCESSES;
		a->thread = find_thread(r);
	}
	free(jobs);
	return 0;
}

/* ---- how it came about ---- */

/*
 * A thread that does nothing else than the phase, beside others that work, too, and wait often for what it
 * does.
 */
static bool is_stage(const struct qz_report *r, const struct qz_alone *a, uint64_t phase_ns)
{
	const struct qz_thread *thread = &r->profile->threads[a->thread];
	uint64_t others = 0, waits = 0, able = thread->running_ns + thread->ready_ns;

	for (uint32_t i = 0; i < r->nthreads; i++) {
		if (r->threads[i].thread == a->thread)
			continue;
		others += r->profile->threads[r->threads[i].thread].running_ns;
		waits += r->threads[i].waits.count;
	}
	return (double)phase_ns >= 0.9 * (double)thread->running_ns &&
	       (double)others >= 0.1 * (double)thread->running_ns && waits >= 50 &&
	       (double)able >= 0.8 * (double)(r->elapsed_ns - a->usage.idle_ns);
}

/* Work of a single thread, out of all work that was done alone. */
static void find_single_time(const struct qz_report *r, struct qz_alone *a, const struct code *c,
			     uint64_t work_ns)
{
	const struct qz_own_time *times = c->times;
	uint32_t single = find_single(c);

	if (single != QZ_NONE) {
		a->ns = times[single].serial_ns + times[single].ready_ns;
		a->around_ns = a->ns + most_of(c, true, c->close[single]) - times[single].serial_ns;
		a->ns = a->ns < work_ns ? a->ns : work_ns;
		a->around_ns = a->around_ns < work_ns ? a->around_ns : work_ns;
		a->phase = single;
		if (a->kind == QZ_ALONE_NOT)
			a->thread = times[single].thread;
		a->code = find_code(c);
		a->code_ns = times[a->code].code_ns;
	}
	if (a->kind == QZ_ALONE_NOT && (double)a->ns >= LEAST * (double)r->elapsed_ns)
		a->kind = !times[a->phase].tasks && is_stage(r, a, times[a->phase].thread_ns)
				  ? QZ_ALONE_STAGE
				  : QZ_ALONE_SERIAL;
}

static int divide(const struct qz_report *r, struct qz_alone *a, const struct qz_cost_walk *costs,
		  const uint64_t *child_ns)
{
	uint64_t costs_ns, work_ns;
	struct qz_own_time *times = qz_own_time__of(r, costs, &costs_ns);
	enum qz_closeness *close = qz_closeness__of(r->profile);
	struct code c = {r->profile->nprocedures, times, close};

	if (!times || !close) {
		free(times);
		free(close);
		return -ENOMEM;
	}
	work_ns = a->usage.alone_ns > costs_ns ? a->usage.alone_ns - costs_ns : 0;
	find_single_time(r, a, &c, work_ns);
	a->shared_phase = find_phase(&c, false, QZ_CLOSE_LIBRARY);
	free(times);
	free(close);
	if (a->shared_phase == QZ_NONE)
		return 0;
	a->shared_ns = work_ns - a->around_ns;
	return find_sharers(r, a, costs, child_ns);
}

int qz_alone__find(const struct qz_report *r, struct qz_alone *a)
{
	struct qz_cost_walk costs;
	uint64_t *child_ns;
	int err;

	*a = (struct qz_alone) {0};
	qz_usage__find(r, &a->usage);
	if (a->usage.processors < 2 || !r->nthreads || !r->profile->nprocedures || r->nlevels < 2 ||
	    (double)a->usage.alone_ns < LEAST * (double)r->elapsed_ns)
		return 0;
	if (qz_usage__is_open(r, &a->usage))
		return 0;
	child_ns = qz_jobs__child_times(r->profile);
	err = qz_cost_walk__init(&costs, r->profile);
	err = child_ns ? err : -ENOMEM;
	err = err ? err : find_processes(r, a, child_ns);
	err = err ? err : divide(r, a, &costs, child_ns);
	free(child_ns);
	qz_cost_walk__free(&costs);
	return err;
}
