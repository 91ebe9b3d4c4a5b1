/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/locks/lock_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/locks/lock_kind.h"
#include "core/advise/usage.h"
#include "core/model/wait_causes.h"
#include "core/util/apportion.h"
#include "core/util/order.h"

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
	return !(qz_wait_cause__kind(cause) &
		 (QZ_WAIT_IS_FUTEX | QZ_WAIT_IS_ANY | QZ_WAIT_IS_CHILD));
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
 * Shares of the time that threads are ready, other than at the lock: Quartz has their processor, or other programs have it, or
 * threads of their own program.
 */
struct kept {
	double quartz, others;
};

static struct kept kept_of(const struct qz_object_row *row, const struct qz_usage *u)
{
	uint64_t ready = u->ready_ns - qz_least(u->ready_ns, row->waits.ready_ns);
	uint64_t taken = qz_least(u->taken_ns, ready);
	double share = taken ? (double)taken / (double)ready : 0;
	double own = taken ? (double)qz_least(u->own_ns, u->taken_ns) / (double)u->taken_ns : 0;

	return (struct kept) {share * own, share * (1 - own)};
}

/* What the waits for the lock and its code leave of a run, of its longest thread. */
struct left {
	double gain;	/* elapsed time that goes at most */
	double stretch; /* elapsed time per time in which no other program kept it from a processor */
};

/* Others are not known to have as much of a shorter run: where they have most of it, little is sure. */
#define MOST_STRETCH 1.5

/*
 * Who waits there more often takes and releases it more often, so that its code is shared by the waits. What Quartz had, it will not have.
 * What other programs have, makes the run longer with the lock and without it, by the same factor.
 */
static void find_left(const struct qz_report *r, const struct chain *c, uint64_t running_ns,
		      const struct kept *kept, uint64_t own_ns, struct left *left)
{
	double elapsed = (double)r->elapsed_ns, ready = (double)c->ready_ns;
	double others = ready * kept->others, most = elapsed * (1 - 1 / MOST_STRETCH), runs,
	       stretch, gain;

	others = others < most ? others : most;
	runs = (double)running_ns + ready * (1 - kept->quartz) - others;
	stretch = elapsed / (elapsed - others);
	gain = elapsed - (runs + (double)own_ns) * stretch;
	if (gain < left->gain)
		*left = (struct left) {gain > 0 ? gain : 0, stretch};
}

/*
 * Of the thread that makes a run longest without the lock and its code. own: with what threads are blocked for themselves. Where a
 * library's own code goes with the lock, that has it all: nothing is taken off here.
 */
static int find_chains(const struct qz_report *r, const struct qz_object_row *row,
		       const struct qz_usage *u, bool has_code, struct left *left,
		       struct left *left_own)
{
	const struct qz_profile *p = r->profile;
	struct chain *chains = calloc((size_t)p->nthreads + 1, sizeof(*chains));
	struct qz_split code = {.amount = has_code ? 0 : row->cost.lock_cpu_ns};
	struct kept kept = has_code ? (struct kept) {0} : kept_of(row, u);

	if (!chains)
		return -ENOMEM;
	*left = *left_own = (struct left) {(double)r->elapsed_ns, 1};
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].thread != QZ_NONE &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope))
			add_wait(p, &chains[p->waits[i].thread], &p->waits[i], row->object);
	for (uint32_t i = 0; i < p->nthreads; i++)
		code.total += chains[i].waits;
	for (uint32_t i = 0; i < p->nthreads; i++) {
		uint64_t runs = p->threads[i].running_ns;

		if (!chains[i].at_lock_ns || !code.total)
			continue;
		runs -= qz_least(runs, qz_split__next(&code, chains[i].waits));
		find_left(r, &chains[i], runs, &kept, 0, left);
		find_left(r, &chains[i], runs, &kept, chains[i].own_ns, left_own);
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
	uint64_t wanted = r->elapsed_ns - qz_least(u->idle_ns, r->elapsed_ns);

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
		alone = qz_least(u->alone_ns, row->cost.queued_ns);
	return qz_least(alone, qz_least(u->alone_ns, row->cost.queued_ns));
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

static uint64_t at_most(uint64_t most_ns, const struct left *left)
{
	return qz_least((uint64_t)((double)most_ns * left->stretch), (uint64_t)left->gain);
}

int qz_lock_bounds__find(const struct qz_report *r, const struct qz_object_row *row,
			 struct qz_lock_gain *gain)
{
	const struct qz_object *o = &r->profile->objects[row->object];
	const struct qz_object_cost *cost = &row->cost;
	uint64_t lock_ns, most;
	struct own_code code = own_code(r, row);
	struct left left, left_own;
	struct qz_usage u;
	double width, share;
	int err;

	qz_usage__find(r, &u);
	err = find_chains(r, row, &u, code.ns, &left, &left_own);
	if (err)
		return err;
	*gain = (struct qz_lock_gain) {.row = row};
	gain->queue = cost->queued_ns ? (double)o->wait_ns / (double)cost->queued_ns : 0;
	width = gain->queue + 1 < u.processors ? gain->queue + 1 : u.processors;
	share = width > 1 ? 1 - 1 / width : 0;
	lock_ns = (uint64_t)((double)cost->lock_ns * stretch(r, &u));
	most = u.idle_ns + (uint64_t)((double)(code.ns ? u.alone_ns : u.most_alone_ns) *
				      (1 - 1.0 / u.processors));
	/* the lock delays no thread for longer than it has a queue, and until the woken thread runs */
	most = qz_least(most, cost->queued_ns + row->waits.ready_ns) + lock_ns;

	code.ns = (uint64_t)((double)code.ns * stretch(r, &u));
	gain->running.low_ns = (uint64_t)((double)serialized(r, row, &u) * share * USUAL) +
			       lock_ns / 2 + (uint64_t)((double)code.ns * code.least);
	gain->running.high_ns = at_most(most, &left_own) + code.ns;
	gain->running = qz_bounds__within(r, gain->running);
	gain->blocked.high_ns = at_most(most, &left);
	gain->blocked.low_ns = qz_least(u.idle_ns, (uint64_t)((double)cost->held_blocked_ns *
							      (gain->queue / (gain->queue + 1)))) +
			       gain->running.low_ns;
	gain->blocked = qz_bounds__within(r, gain->blocked);
	return 0;
}
