/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/object_cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/allowed.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/report/lock_code.h"
#include "core/report/report.h"
#include "core/util/apportion.h"
#include "core/util/order.h"

/* Queues shorter than this share of the elapsed time are not asked what their holders waited for. */
#define LEAST_QUEUE 0.01

/* What is added up per object before the parts are known, weighted by blocked time. */
struct parts {
	double free; /* the share of processors that were free */
	double blocked;
};

/* Whether such an object can be held, unlike one at which threads wait for each other or for work. */
static bool can_be_held(const struct qz_object *o)
{
	return o->kind == QZ_OBJECT_OTHER || o->kind == QZ_OBJECT_MUTEX ||
	       o->kind == QZ_OBJECT_RWLOCK || o->kind == QZ_OBJECT_SPIN ||
	       o->kind == QZ_OBJECT_LOCK;
}

/* The name is that of daemon/waits/objects.c. */
static bool is_token(const struct qz_object *o)
{
	return o->kind == QZ_OBJECT_PIPE || o->kind == QZ_OBJECT_EVENT ||
	       (o->kind == QZ_OBJECT_SEMAPHORE &&
		!strncmp(o->name, "the semaphores of set ", strlen("the semaphores of set ")));
}

bool qz_object_cost__is_held(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];

	return can_be_held(o) || (is_token(o) && row->figure.cpu_ns);
}

static uint32_t processors_of(const struct qz_report *r)
{
	struct qz_allowed allowed;

	if (!r->profile->processors)
		return r->nlevels > 1 ? r->nlevels - 1 : 1;
	qz_allowed__find(r->profile, r->scope, &allowed);
	return allowed.processors;
}

/* ---- code ---- */

static void add_code(struct qz_report *r, const uint32_t *row_of, const struct qz_sample *s,
		     const struct qz_lock_site *sites, uint32_t n)
{
	struct qz_split norm = {.amount = s->norm_ns}, cpu = {.amount = s->cpu_ns};

	for (uint32_t i = 0; i < n; i++)
		norm.total += sites[i].count;
	cpu.total = norm.total;
	for (uint32_t i = 0; norm.total && i < n; i++) {
		uint64_t norm_ns = qz_split__next(&norm, sites[i].count);
		uint64_t cpu_ns = qz_split__next(&cpu, sites[i].count);
		struct qz_object_cost *cost = &r->objects[row_of[sites[i].object]].cost;

		if (s->object == sites[i].object) /* its holder: counted as that */
			continue;
		cost->lock_ns += norm_ns;
		cost->lock_cpu_ns += cpu_ns;
	}
}

static void count_code(struct qz_report *r, const uint32_t *row_of, const struct qz_lock_code *code)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; code->n && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		const struct qz_lock_site *sites;
		uint32_t n;

		if (s->scope != r->scope || s->spinning)
			continue;
		sites = qz_lock_code__at(code, s->node, &n);
		if (sites)
			add_code(r, row_of, s, sites, n);
	}
}

/* ---- queues ---- */

/*
 * The share of the processors that others than a scope had, on average: in a profile of the machine to the nanosecond,
 * else as far as samples know.
 */
static double share_of_others(const struct qz_profile *p, uint32_t scope)
{
	uint32_t machine = qz_profile__machine(p);
	uint64_t all, own;
	double whole, others;

	if (scope == machine || !p->processors)
		return 0;
	if (machine == QZ_NONE) {
		others = qz_allowed__others(p, scope) / p->processors;
		return isinf(others) || others < 0 ? 0 : others;
	}
	all = qz_scope__running_ns(&p->scopes[machine]);
	own = qz_scope__running_ns(&p->scopes[scope]);
	whole = (double)p->processors * (double)p->scopes[machine].elapsed_ns;
	return all > own && whole > 0 ? (double)(all - own) / whole : 0;
}

static void count_waits(const struct qz_report *r, const uint32_t *row_of, struct parts *parts)
{
	const struct qz_profile *p = r->profile;
	uint32_t processors = processors_of(r);

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct parts *to;
		double free;

		if (w->object == QZ_NONE || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		to = &parts[row_of[w->object]];
		to->blocked += (double)w->blocked_ns;
		free = 1 - (double)w->nominal / processors - share_of_others(p, w->scope);
		if (free > 0)
			to->free += (double)w->blocked_ns * free;
	}
}

/* ---- holders that are blocked ---- */

/* Marks the procedures that lock the object: each calls the code of the lock. */
static bool mark_lockers(const struct qz_lock_code *code, uint32_t object, uint32_t *stamps)
{
	const struct qz_profile *p = code->profile;
	bool any = false;

	for (uint32_t i = 0; i < code->n; i++) {
		struct qz_frames frames = {.profile = p, .node = code->sites[i].caller};
		uint32_t procedure;

		if (code->sites[i].object != object)
			continue;
		procedure = qz_frames__next(&frames);
		if (procedure == QZ_NONE || p->procedures[procedure].kind != QZ_PROCEDURE)
			continue;
		stamps[procedure] = object;
		any = true;
	}
	return any;
}

static bool is_in_locker(const struct qz_profile *p, uint32_t node, const uint32_t *stamps,
			 uint32_t object)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t procedure;

	while ((procedure = qz_frames__next(&frames)) != QZ_NONE)
		if (stamps[procedure] == object)
			return true;
	return false;
}

/* At a condition variable or another lock, a thread has let go of this one, or waits on its own account. */
static bool keeps_locks(const struct qz_profile *p, const struct qz_wait *w)
{
	return qz_wait_cause__kind(p->causes[w->cause]) != QZ_WAIT_IS_FUTEX;
}

/* Time that threads were blocked for something else in the procedures that lock the object. */
static uint64_t blocked_in_lockers(const struct qz_report *r, const uint32_t *stamps,
				   uint32_t object)
{
	const struct qz_profile *p = r->profile;
	uint64_t blocked = 0;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->blocked_ns && w->object != object &&
		    qz_scope__covers(p, r->scope, w->scope) && keeps_locks(p, w) &&
		    is_in_locker(p, w->node, stamps, object))
			blocked += w->blocked_ns;
	}
	return blocked;
}

/* ---- all together ---- */

static void set_queue(const struct qz_report *r, struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];

	for (int n = 1; n < QZ_QUEUE_LENGTHS; n++)
		row->cost.queued_ns += o->queue_ns[n];
	row->cost.queued_ns =
		qz_least(row->cost.queued_ns, r->elapsed_ns); /* of several words: cut */
}

static void set_parts(const struct qz_report *r, struct qz_object_row *row,
		      const struct parts *parts, const struct qz_lock_code *code, uint32_t *stamps)
{
	const struct qz_figure *f = &row->figure;
	struct qz_object_cost *cost = &row->cost;
	uint64_t left;

	set_queue(r, row);
	/* The queue's time is exact, that of its holders an estimate. */
	cost->held_running_ns = qz_least(f->norm_ns, cost->queued_ns);
	left = cost->queued_ns - qz_least(f->cpu_ns - f->spin_ns, cost->queued_ns);
	if (left && (double)left >= LEAST_QUEUE * (double)r->elapsed_ns &&
	    mark_lockers(code, row->object, stamps))
		cost->held_blocked_ns = qz_least(left, blocked_in_lockers(r, stamps, row->object));
	left -= cost->held_blocked_ns;
	if (parts->blocked > 0)
		cost->free_ns = (uint64_t)((double)left * parts->free / parts->blocked);
}

static void set_costs(struct qz_report *r, const struct parts *parts,
		      const struct qz_lock_code *code, uint32_t *stamps)
{
	for (uint32_t i = 0; i < r->nobjects; i++) {
		struct qz_object_row *row = &r->objects[i];
		struct qz_object_cost *cost = &row->cost;

		if (qz_object_cost__is_held(r, row))
			set_parts(r, row, &parts[i], code, stamps);
		if (r->profile->objects[row->object].kind == QZ_OBJECT_LINE)
			cost->line_ns = row->figure.norm_ns;
		cost->cost_ns = qz_least(r->elapsed_ns,
					 cost->held_running_ns + cost->held_blocked_ns +
						 cost->free_ns + cost->lock_ns + cost->line_ns);
	}
}

int qz_object_cost__build(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint32_t *row_of = calloc((size_t)p->nobjects + 1, sizeof(*row_of));
	uint32_t *stamps = malloc(((size_t)p->nprocedures + 1) * sizeof(*stamps));
	struct parts *parts = calloc((size_t)r->nobjects + 1, sizeof(*parts));
	struct qz_lock_code code = {0};
	int err = row_of && stamps && parts ? qz_lock_code__find(&code, r) : -ENOMEM;

	if (!err) {
		for (uint32_t i = 0; i < p->nprocedures; i++)
			stamps[i] = QZ_NONE;
		for (uint32_t i = 0; i < r->nobjects; i++)
			row_of[r->objects[i].object] = i;
		count_code(r, row_of, &code);
		count_waits(r, row_of, parts);
		set_costs(r, parts, &code, stamps);
	}
	qz_lock_code__free(&code);
	free(parts);
	free(stamps);
	free(row_of);
	return err;
}
