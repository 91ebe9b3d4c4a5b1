/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/own_time.h"

#include <stdlib.h>
#include <string.h>

#include "core/advise/pools.h"
#include "core/model/frames.h"
#include "core/report/goroutines.h"

/* Threads that take less than this share of a procedure have met it by chance, as when they start. */
#define CHANCE 0.03

bool qz_own_time__is_single(const struct qz_own_time *t)
{
	return t->cpu_ns && (double)t->thread_ns >= (1 - CHANCE) * (double)t->cpu_ns;
}

/* The frames of a stack up to where its process was started, each procedure once. */
struct walk {
	struct qz_frames frames;
	uint32_t *stamps, stamp;
};

static uint32_t next(struct walk *w)
{
	const struct qz_profile *p = w->frames.profile;
	uint32_t procedure;

	while ((procedure = qz_frames__next(&w->frames)) != QZ_NONE) {
		if (p->procedures[procedure].kind == QZ_PROCESS_START)
			return QZ_NONE;
		if (p->procedures[procedure].kind != QZ_PROCEDURE ||
		    w->stamps[procedure] == w->stamp)
			continue;
		w->stamps[procedure] = w->stamp;
		return procedure;
	}
	return QZ_NONE;
}

/*
 * The thread with more than half of the time stays, by pairing off what others have (Boyer and Moore); thread_ns
 * is how far it is ahead, until it is counted.
 */
static void vote(struct qz_own_time *t, uint32_t worker, uint64_t ns)
{
	if (t->worker == worker) {
		t->thread_ns += ns;
	} else if (t->thread_ns >= ns) {
		t->thread_ns -= ns;
	} else {
		t->worker = worker;
		t->thread_ns = ns - t->thread_ns;
	}
}

/* Whose work a sample is. */
struct worker {
	uint32_t number; /* of a thread, or above those */
	uint32_t thread; /* of a task the first one of the process; QZ_NONE: it is no work */
	bool task;
};

static void add_sample(struct qz_own_time *times, const struct qz_sample *s,
		       const struct worker *worker, struct walk *w)
{
	bool innermost = true;
	uint32_t procedure;

	while ((procedure = next(w)) != QZ_NONE) {
		struct qz_own_time *t = &times[procedure];

		t->cpu_ns += s->cpu_ns;
		t->tasks |= worker->task;
		vote(t, worker->number, s->cpu_ns);
		if (s->busy == 1)
			t->serial_ns += s->norm_ns;
		if (s->busy == 1 && innermost)
			t->code_ns += s->norm_ns;
		innermost = false;
	}
}

bool qz_own_time__is_work(const struct qz_cost_walk *costs, uint32_t node)
{
	struct qz_cost_stack s = qz_cost_walk__at(costs, node);

	return s.cost == QZ_COST_WORK || s.bulk;
}

static bool counts(const struct qz_report *r, const struct qz_sample *s)
{
	return s->scope == r->scope && s->thread != QZ_NONE && !s->spinning;
}

static void add_samples(const struct qz_report *r, struct qz_own_time *times, uint32_t *stamps,
			const struct worker *workers)
{
	const struct qz_profile *p = r->profile;
	uint32_t stamp = 0, procedure;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		struct walk w = {{p, p->samples[i].node, 0}, stamps, ++stamp};

		if (workers[i].thread != QZ_NONE)
			add_sample(times, &p->samples[i], &workers[i], &w);
	}
	for (uint32_t i = 0; i < p->nprocedures; i++)
		times[i].thread_ns = 0;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		struct walk w = {{p, s->node, 0}, stamps, ++stamp};

		while (workers[i].thread != QZ_NONE && (procedure = next(&w)) != QZ_NONE) {
			if (times[procedure].worker != workers[i].number)
				continue;
			times[procedure].thread = workers[i].thread;
			times[procedure].thread_ns += s->cpu_ns;
		}
	}
	memset(stamps, 0, (size_t)p->nprocedures * sizeof(*stamps));
}

/* Who was preempted in such code, is ready to go on with it; who was woken, goes on with its work. */
static void add_waits(const struct qz_report *r, struct qz_own_time *times, uint32_t *stamps,
		      const struct qz_cost_walk *costs, uint64_t *costs_ns)
{
	const struct qz_profile *p = r->profile;
	uint32_t stamp = 0, procedure;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *wait = &p->waits[i];
		struct walk w = {{p, wait->node, 0}, stamps, ++stamp};

		if (wait->nominal > 1 || !wait->ready_ns ||
		    !qz_scope__covers(p, r->scope, wait->scope))
			continue;
		if (!wait->blocked_ns && !qz_own_time__is_work(costs, wait->node)) {
			*costs_ns += wait->ready_ns;
			continue;
		}
		while ((procedure = next(&w)) != QZ_NONE)
			times[procedure].ready_ns += wait->ready_ns;
	}
}

/* The first thread of a thread's process, for all that its threads run in turns. */
static uint32_t first_thread(const struct qz_profile *p, uint32_t thread)
{
	int32_t pid = p->threads[thread].pid;

	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].pid == pid && p->threads[i].tid == pid)
			return i;
	return thread;
}

static void find_workers(const struct qz_report *r, const struct qz_cost_walk *costs,
			 const struct qz_pools *pools, struct worker *workers, uint64_t *costs_ns)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		enum qz_pool_kind pool;
		uint32_t started;
		bool nested;

		workers[i] = (struct worker) {.thread = QZ_NONE};
		if (!counts(r, s))
			continue;
		if (!qz_own_time__is_work(costs, s->node)) {
			*costs_ns += s->busy == 1 ? s->norm_ns : 0;
			continue;
		}
		pool = qz_pools__at(pools, s->node, &nested);
		workers[i].task = pool != QZ_POOLS && qz_pool__info(pool)->divide;
		workers[i].thread = workers[i].task ? first_thread(p, s->thread) : s->thread;
		started = pool == QZ_POOL_GO ? qz_goroutines__node(p, s->node) : 0;
		workers[i].number = started ? p->nthreads + started : workers[i].thread;
	}
}

struct qz_own_time *qz_own_time__of(const struct qz_report *r, const struct qz_cost_walk *costs,
				    uint64_t *costs_ns)
{
	const struct qz_profile *p = r->profile;
	struct qz_own_time *times = calloc((size_t)p->nprocedures + 1, sizeof(*times));
	uint32_t *stamps = calloc((size_t)p->nprocedures + 1, sizeof(*stamps));
	struct worker *workers = calloc((size_t)p->nsamples + 1, sizeof(*workers));
	struct qz_pools pools;
	int err = qz_pools__init(&pools, p);

	*costs_ns = 0;
	for (uint32_t i = 0; times && i < p->nprocedures; i++)
		times[i].thread = times[i].worker = QZ_NONE;
	if (times && stamps && workers && !err) {
		find_workers(r, costs, &pools, workers, costs_ns);
		add_samples(r, times, stamps, workers);
		add_waits(r, times, stamps, costs, costs_ns);
	} else {
		free(times);
		times = NULL;
	}
	qz_pools__free(&pools);
	free(workers);
	free(stamps);
	return times;
}
