/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pools with more threads than processors. That a thread waits for a processor costs little, since
 * the processors are busy. What costs is spinning, handing over to threads that are not running,
 * and cold caches.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/bounds.h"
#include "core/advise/pools.h"
#include "core/advise/usage.h"
#include "core/costs/cost_walk.h"
#include "core/util/order.h"

/*
 * Runnable threads per processor above which a pool is too large. On two processors, two programs
 * with two OpenBLAS threads each gain nothing with one thread each; four such programs gain half of
 * the time (doc/truth.md).
 */
#define MANY 2.0

/*
 * Least share of the processor time that the pool spends on waiting and handing over. pigz and x264
 * have pools that cost less.
 */
#define LEAST_SPENT 0.05

/*
 * Share of the cost of system calls that is due to several threads in a process: they need TLB
 * shootdowns.
 */
#define SHARED_CALLS 0.5

/*
 * Largest share of the work that is due to caches which other threads used in between. No sample
 * shows it.
 */
#define CACHES 0.66

/* Processor time below the code of one pool. */
struct spent {
	uint64_t waiting_ns; /* spinning, handing over, starting threads */
	uint64_t nested_ns;  /* of this, in nested regions */
	uint64_t calls_ns, work_ns;
};

struct crowd {
	const struct qz_report *report;
	struct qz_cost_walk walk;
	struct qz_pools pools;
	struct spent by_pool[QZ_POOLS];
	uint64_t able_ns; /* any thread was runnable */
	uint64_t cpu_ns,
		other_ns;	/* all samples; of these, neither work nor the start of commands */
	enum qz_pool_kind most; /* the pool with the most waiting_ns */
	double runnable;	/* mean number of runnable threads in able_ns */
	uint32_t processors, free; /* allowed; of these, not used by others */
	uint32_t processes;	   /* that use this pool */
};

static void add_sample(struct crowd *c, const struct qz_sample *s)
{
	enum qz_cost cost = qz_cost_walk__at(&c->walk, s->node).cost;
	bool nested;
	enum qz_pool_kind kind = qz_pools__at(&c->pools, s->node, &nested);
	struct spent *spent = &c->by_pool[kind];

	c->cpu_ns += s->cpu_ns;
	if (s->spinning || (cost != QZ_COST_WORK && (cost != QZ_COST_STARTING || kind != QZ_POOLS)))
		c->other_ns += s->cpu_ns;
	if (kind == QZ_POOLS)
		return;
	if (s->spinning || cost == QZ_COST_HANDING || cost == QZ_COST_STARTING) {
		spent->waiting_ns += s->cpu_ns;
		spent->nested_ns += nested ? s->cpu_ns : 0;
	} else if (cost == QZ_COST_CALLS) {
		spent->calls_ns += s->cpu_ns;
	} else if (cost == QZ_COST_WORK) {
		spent->work_ns += s->cpu_ns;
	}
}

static void add_samples(struct crowd *c)
{
	const struct qz_profile *p = c->report->profile;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].scope == c->report->scope &&
		    !qz_sample__is_unattributed(p, &p->samples[i]))
			add_sample(c, &p->samples[i]);
	for (int kind = 0; kind < QZ_POOLS; kind++)
		if (c->by_pool[kind].waiting_ns > c->by_pool[c->most].waiting_ns)
			c->most = (enum qz_pool_kind)kind;
}

/* ---- processes ---- */

struct process {
	int32_t pid;
	uint64_t cpu_ns; /* in the pool */
};

static int compare(const void *x, const void *y)
{
	const struct process *a = x, *b = y;

	return qz_order(a->pid, b->pid);
}

/* Merges entries of the same pid. Returns how many are left. */
static uint32_t merge(struct process *processes, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(processes, n, sizeof(*processes), compare);
	for (uint32_t i = 0; i < n; i++)
		if (kept && processes[kept - 1].pid == processes[i].pid)
			processes[kept - 1].cpu_ns += processes[i].cpu_ns;
		else
			processes[kept++] = processes[i];
	return kept;
}

/*
 * Counts the processes that use the pool. Their parent may have loaded the library without using
 * it. 0 or -ENOMEM.
 */
static int count_processes(struct crowd *c)
{
	const struct qz_profile *p = c->report->profile;
	struct process *processes = calloc((size_t)p->nsamples + 1, sizeof(*processes));
	uint64_t most = 0;
	uint32_t n = 0;
	bool nested;

	if (!processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope == c->report->scope && s->thread != QZ_NONE &&
		    qz_pools__at(&c->pools, s->node, &nested) == c->most)
			processes[n++] = (struct process) {p->threads[s->thread].pid, s->cpu_ns};
	}
	n = merge(processes, n);
	for (uint32_t i = 0; i < n; i++)
		most = processes[i].cpu_ns > most ? processes[i].cpu_ns : most;
	for (uint32_t i = 0; i < n; i++)
		c->processes += processes[i].cpu_ns >= most / 10;
	free(processes);
	return 0;
}

/* ---- the finding ---- */

static const struct spent *spent_in(const struct crowd *c)
{
	return &c->by_pool[c->most];
}

static bool is_nested(const struct crowd *c)
{
	return qz_pool__info(c->most)->flat && spent_in(c)->nested_ns > spent_in(c)->waiting_ns / 2;
}

/* The number of threads to propose for each process. */
static uint32_t right_size(const struct crowd *c, uint32_t processors)
{
	return processors > c->processes ? processors / c->processes : 1;
}

/*
 * Share of the waiting time that is surely saved. A pool of one thread does not wait; half as many
 * threads still wait for each other.
 */
static double saved_at_least(const struct crowd *c)
{
	return is_nested(c) || right_size(c, c->processors) == 1 ? 1 : 0.5;
}

static struct qz_bounds gain_of(const struct crowd *c)
{
	const struct spent *s = spent_in(c);
	double a_cpu = (double)c->able_ns / (double)c->cpu_ns;
	double low = (double)s->waiting_ns + SHARED_CALLS * (double)s->calls_ns;
	double high = (double)c->other_ns + CACHES * (double)s->work_ns;

	return qz_bounds__within(c->report,
				 (struct qz_bounds) {(uint64_t)(saved_at_least(c) * low * a_cpu),
						     (uint64_t)(high * a_cpu)});
}

static int report_it(const struct crowd *c, uint64_t ready_ns, struct qz_advice *a)
{
	const struct qz_pool *pool = qz_pool__info(c->most);
	struct qz_finding f =
		qz_finding__about("oversubscribed", c->report, QZ_SUBJECT_SCOPE, c->report->scope);
	struct qz_bounds gain = gain_of(c);
	char each[64] = "";

	if (c->processes > 1)
		snprintf(each, sizeof(each), " in each of %u processes", c->processes);
	f.word = "TOO MANY THREADS";
	f.gain_low_ns = gain.low_ns;
	f.gain_high_ns = gain.high_ns;
	f.lost = QZ_LOST_READY | QZ_LOST_IDLE;
	qz_finding__say(&f, &f.what,
			"%s has threads of its own%s: %.1f threads could run on average, on %u "
			"CPU%s.",
			pool->name, each, c->runnable, c->processors,
			c->processors == 1 ? "" : "s");
	qz_finding__prove(&f, "report --costs", NULL,
			  "its threads took %.0f%% of the CPU time for waiting and handing over",
			  100 * (double)spent_in(c)->waiting_ns / (double)c->cpu_ns);
	qz_finding__prove(&f, "threads", NULL, "ready without a CPU: %.2f s, all threads together",
			  (double)ready_ns / 1e9);
	if (is_nested(c))
		qz_finding__say(&f, &f.remedy, "no threads for regions within regions: %s",
				pool->flat);
	else
		qz_finding__say(&f, &f.remedy, "%s%u%s", pool->size, right_size(c, c->free),
				c->processes > 1 ? " in each process" : "");
	return qz_advise__add(a, &f);
}

/* Processors that it may use. With a limit, as many as it used at a time. */
static uint32_t allowed(const struct qz_report *r, const struct qz_usage *u)
{
	uint32_t used = (uint32_t)ceil(r->parallelism);

	return u->limited_ns && used && used < u->processors ? used : u->processors;
}

/* Others would still take what they took while its threads were ready. */
static uint32_t free_of(const struct qz_report *r, const struct qz_usage *u, uint32_t processors)
{
	double taken = (double)(u->taken_ns - u->limited_ns) / (double)(r->elapsed_ns + 1);

	return taken + 1 < processors ? (uint32_t)lround(processors - taken) : 1;
}

static bool costs_enough(const struct crowd *c)
{
	return c->cpu_ns && (double)spent_in(c)->waiting_ns >= LEAST_SPENT * (double)c->cpu_ns;
}

/* Elapsed time in which any thread was runnable; a spinning thread is. */
static uint64_t able_ns(const struct qz_report *r, const struct qz_usage *u)
{
	uint64_t off_ns = r->profile->scopes[r->scope].level_ns[0];

	return r->elapsed_ns - (u->idle_ns < off_ns ? u->idle_ns : off_ns);
}

int qz_rule__oversubscribed(const struct qz_report *r, struct qz_advice *a)
{
	struct crowd c = {.report = r};
	struct qz_usage u;
	int err;

	qz_usage__find(r, &u);
	c.able_ns = able_ns(r, &u);
	c.processors = allowed(r, &u);
	c.free = free_of(r, &u, c.processors);
	c.runnable = (double)r->profile->scopes[r->scope].runnable_ns / (double)(c.able_ns + 1);
	if (c.runnable <= MANY * c.processors)
		return 0;
	err = qz_cost_walk__init(&c.walk, r->profile);
	err = err ? err : qz_pools__init(&c.pools, r->profile);
	if (!err) {
		add_samples(&c);
		if (costs_enough(&c))
			err = count_processes(&c) ?: report_it(&c, u.ready_ns, a);
	}
	qz_cost_walk__free(&c.walk);
	qz_pools__free(&c.pools);
	return err;
}
