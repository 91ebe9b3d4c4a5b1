/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/locks/lock_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/locks/lock_kind.h"
#include "core/advise/usage.h"
#include "core/model/wait_causes.h"
#include "core/util/apportion.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- the longest thread ---- */

/* Of one thread: what it does whatever becomes of the lock. */
struct chain {
	uint64_t at_lock_ns; /* blocked and ready there; 0: the lock does not concern it */
	uint64_t ready_ns;   /* after waits elsewhere */
	uint64_t own_ns;     /* blocked for what is no other thread's doing, and ready after that */
	uint64_t waits;	     /* at the lock */
};

static bool is_own(const char *cause)
{
	return strcmp(cause, "futex") != 0 && !qz_wait_cause__is_any(cause) &&
	       strcmp(cause, "child") != 0;
}

static void add_wait(const struct qz_profile *p, struct chain *c, const struct qz_wait *w,
		     uint32_t object)
{
	if (w->object == object) {
		c->at_lock_ns += w->blocked_ns + w->ready_ns;
		c->waits += w->count;
		return;
	}
	if (w->blocked_ns && is_own(p->causes[w->cause]))
		c->own_ns += w->blocked_ns + w->ready_ns;
	else
		c->ready_ns += w->ready_ns;
}

/*
 * What stays of a thread without the lock: who waits there more often takes and releases it more often, so that its code is
 * shared by the waits. While Quartz had its processor it was ready, and will not be without it.
 */
static uint64_t rest_of(const struct chain *c, uint64_t running_ns, uint64_t code_ns, double others)
{
	uint64_t runs = running_ns - least(code_ns, running_ns);

	return runs + (uint64_t)((double)c->ready_ns * others);
}

/*
 * The elapsed time that is left when the waits for the lock and its code go: the longest of its threads, with what the
 * run has beside that. own: with what threads are blocked for themselves.
 */
static int find_chains(const struct qz_report *r, const struct qz_object_row *row,
		       const struct qz_usage *u, uint64_t *left, uint64_t *left_own)
{
	const struct qz_profile *p = r->profile;
	struct chain *chains = calloc((size_t)p->nthreads + 1, sizeof(*chains));
	struct qz_split code = {.amount = row->cost.lock_cpu_ns};
	double others = u->taken_ns ? 1 - (double)u->own_ns / (double)u->taken_ns : 1;

	if (!chains)
		return -ENOMEM;
	*left = *left_own = 0;
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].thread != QZ_NONE &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope))
			add_wait(p, &chains[p->waits[i].thread], &p->waits[i], row->object);
	for (uint32_t i = 0; i < p->nthreads; i++)
		code.total += chains[i].waits;
	for (uint32_t i = 0; i < p->nthreads; i++) {
		uint64_t runs;

		if (!chains[i].at_lock_ns || !code.total)
			continue;
		runs = rest_of(&chains[i], p->threads[i].running_ns,
			       qz_split__next(&code, chains[i].waits), others);
		if (runs > *left)
			*left = runs;
		if (runs + chains[i].own_ns > *left_own)
			*left_own = runs + chains[i].own_ns;
	}
	free(chains);
	return 0;
}

/* ---- bounds ---- */

/* Of what is saved if nothing else gets slower: processes cost more than threads, finer locks more than one. */
#define USUAL 0.8

/*
 * Processor time that goes makes place for other threads that are ready: elapsed time in which the program wanted
 * a processor, per time in which it had one.
 */
static double stretch(const struct qz_report *r, const struct qz_usage *u)
{
	uint64_t wanted = r->elapsed_ns - least(u->idle_ns, r->elapsed_ns);

	return r->busy_ns && wanted > r->busy_ns ? (double)wanted / (double)r->busy_ns : 1;
}

/* Time that the holders had one processor to themselves, while others could have used the rest. */
static uint64_t serialized(const struct qz_report *r, const struct qz_object_row *row,
			   const struct qz_usage *u)
{
	uint64_t alone = r->nlevels > 1 ? row->figure.level_norm_ns[1] : 0;

	if (alone && r->serial_ns)
		alone = (uint64_t)((double)alone / (double)r->serial_ns * (double)u->alone_ns);
	/* Its holder is not known: who runs alone while others queue has it, or they would not. */
	if (qz_lock_kind__of(r, row->object) == QZ_LOCK_INTERPRETER)
		alone = least(u->alone_ns, row->cost.queued_ns);
	return least(alone, least(u->alone_ns, row->cost.queued_ns));
}

/*
 * Code of a library that costs less without the lock that it takes, and the share of it that goes at least.
 *
 * stdio takes its lock in its own code, which a stream without one mostly does not need: four threads that put
 * characters had 15 % of it left with putc_unlocked and a stream each. What is formatted costs the same as before.
 *
 * An allocator's blocks are of all threads, and its lists wander from cache to cache: four threads that build trees
 * had a third of their processor time left, and a sixth of that in the allocator, with an arena each. That
 * grows with the time that threads queue.
 */
struct own_code {
	uint64_t ns;
	double least;
};

static struct own_code own_code(const struct qz_report *r, const struct qz_object_row *row)
{
	enum qz_lock_kind kind = qz_lock_kind__of(r, row->object);
	uint32_t locker = qz_lock_kind__locker(r, row->object);
	struct own_code code = {.least = 0.7};

	if (kind != QZ_LOCK_STDIO && kind != QZ_LOCK_ALLOCATOR)
		return code;
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_row *other = &r->rows[i];

		if (kind == QZ_LOCK_STDIO
			    ? other->procedure == locker
			    : qz_lock_kind__is_allocator(r->profile, other->procedure))
			code.ns += other->self.norm_ns;
	}
	if (kind == QZ_LOCK_ALLOCATOR && r->elapsed_ns)
		code.least *= (double)row->cost.queued_ns / (double)r->elapsed_ns;
	return code;
}

static uint64_t after(uint64_t elapsed, uint64_t left)
{
	return elapsed > left ? elapsed - left : 0;
}

int qz_lock_bounds__find(const struct qz_report *r, const struct qz_object_row *row,
			 struct qz_lock_gain *gain)
{
	const struct qz_object *o = &r->profile->objects[row->object];
	const struct qz_object_cost *cost = &row->cost;
	uint64_t left, left_own, lock_ns, most;
	struct own_code code = own_code(r, row);
	struct qz_usage u;
	double width, share;
	int err;

	qz_usage__find(r, &u);
	err = find_chains(r, row, &u, &left, &left_own);
	if (err)
		return err;
	*gain = (struct qz_lock_gain) {.row = row};
	gain->queue = cost->queued_ns ? (double)o->wait_ns / (double)cost->queued_ns : 0;
	width = gain->queue + 1 < u.processors ? gain->queue + 1 : u.processors;
	share = width > 1 ? 1 - 1 / width : 0;
	lock_ns = (uint64_t)((double)cost->lock_ns * stretch(r, &u));
	most = u.idle_ns + (uint64_t)((double)u.most_alone_ns * (1 - 1.0 / u.processors));
	/* nobody is kept by it longer than there is a queue, and until who was woken runs */
	most = least(most, cost->queued_ns + row->waits.ready_ns) + lock_ns;

	code.ns = (uint64_t)((double)code.ns * stretch(r, &u));
	gain->running.low_ns = (uint64_t)((double)serialized(r, row, &u) * share * USUAL) +
			       lock_ns / 2 + (uint64_t)((double)code.ns * code.least);
	gain->running.high_ns = least(most, after(r->elapsed_ns, left_own)) + code.ns;
	gain->running = qz_bounds__within(r, gain->running);
	gain->blocked.high_ns = least(most, after(r->elapsed_ns, left));
	gain->blocked.low_ns = least(u.idle_ns, (uint64_t)((double)cost->held_blocked_ns *
							   (gain->queue / (gain->queue + 1)))) +
			       gain->running.low_ns;
	gain->blocked = qz_bounds__within(r, gain->blocked);
	return 0;
}
