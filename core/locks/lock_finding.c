/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/locks/lock_finding.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/order.h"

#define MOST_OBJECTS 3 /* that a rule speaks of */

/* A lock below this share of the elapsed time gains too little to be shown. */
#define LEAST_COST 0.02

#define LEAST_WAITS 4 /* that show a lock by themselves */

/* What holders do while others queue: block, when that takes longer than their running. */
static bool blocks(const struct qz_object_cost *cost)
{
	return cost->held_blocked_ns > cost->held_running_ns + cost->lock_ns;
}

/*
 * A futex word of unknown use may be a barrier, and what looks like a mutex in a few waits may be where a thread sleeps until
 * there is work: it is a lock if a thread was seen to hold it.
 */
static bool is_lock(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];

	return (o->kind != QZ_OBJECT_OTHER && o->waits >= LEAST_WAITS) ||
	       row->cost.held_running_ns || row->cost.held_blocked_ns;
}

static bool concerns(const struct qz_report *r, const struct qz_object_row *row,
		     const struct qz_lock_rule *rule)
{
	const struct qz_object_cost *cost = &row->cost;
	uint64_t most = cost->queued_ns > cost->cost_ns ? cost->queued_ns : cost->cost_ns;

	/* Of the interpreter lock, whoever blocks has let go of it. */
	return cost->queued_ns && is_lock(r, row) &&
	       (double)most >= LEAST_COST * (double)r->elapsed_ns &&
	       qz_lock_kind__of(r, row->object) == rule->kind &&
	       (rule->kind == QZ_LOCK_INTERPRETER || blocks(cost) == rule->blocked);
}

static void prove(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	const struct qz_object_cost *cost = &gain->row->cost;
	const struct qz_object *o = &r->profile->objects[gain->row->object];

	qz_finding__prove(
		f, "report", f->subject.name,
		"others queued %.0f%% of the time, %.1f threads on average: %llu waits of %.3g ms",
		qz_finding__percent(r, cost->queued_ns), gain->queue, (unsigned long long)o->waits,
		o->waits ? (double)o->wait_ns / (double)o->waits / 1e6 : 0);
	qz_finding__prove(f, "objects", NULL,
			  "meanwhile holders ran %.0f%% and were blocked %.0f%% of the time; "
			  "locking and unlocking "
			  "took %.0f%%",
			  qz_finding__percent(r, cost->held_running_ns),
			  qz_finding__percent(r, cost->held_blocked_ns),
			  qz_finding__percent(r, cost->lock_ns));
	if (gain->row->waits.ready_ns >= r->elapsed_ns / 100)
		qz_finding__prove(f, "report", f->subject.name,
				  "threads that were woken for it waited %.2f s for a processor",
				  (double)gain->row->waits.ready_ns / 1e9);
}

static void say_where(struct qz_finding *f, const struct qz_report *r, uint32_t object)
{
	uint32_t locker = qz_lock_kind__locker(r, object);
	const struct qz_procedure *procedure;

	if (locker == QZ_NONE)
		return;
	procedure = &r->profile->procedures[locker];
	if (*procedure->file && procedure->line)
		qz_finding__say(f, &f->where, "taken in %s, %s:%u", procedure->name,
				procedure->file, procedure->line);
	else
		qz_finding__say(f, &f->where, "taken in %s", procedure->name);
}

static int add(const struct qz_report *r, struct qz_advice *a, const struct qz_lock_rule *rule,
	       const struct qz_object_row *row)
{
	struct qz_lock_gain gain;
	const char *remedy;
	struct qz_finding f;
	int err = qz_lock_bounds__find(r, row, &gain);

	if (err)
		return err;
	f = qz_finding__about(rule->name, r, QZ_SUBJECT_OBJECT, row->object);
	f.word = "CONTENDED";
	f.gain_low_ns = rule->blocked ? gain.blocked.low_ns : gain.running.low_ns;
	f.gain_high_ns = rule->blocked ? gain.blocked.high_ns : gain.running.high_ns;
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE | QZ_LOST_HELD;
	if (rule->kind == QZ_LOCK_STDIO || rule->kind == QZ_LOCK_ALLOCATOR)
		f.lost |= QZ_LOST_READY; /* mostly less work, which waits for processors no more */
	rule->say(&f, r, &gain);
	say_where(&f, r, row->object);
	prove(&f, r, &gain);
	remedy = rule->blocked ? NULL : qz_lock_kind__remedy(&r->profile->objects[row->object]);
	qz_finding__say(&f, &f.remedy, "%s", remedy ? remedy : rule->remedy);
	return qz_advise__add(a, &f);
}

static int compare(const void *x, const void *y)
{
	const struct qz_object_row *a = *(const struct qz_object_row *const *)x;
	const struct qz_object_row *b = *(const struct qz_object_row *const *)y;

	return qz_order(b->cost.cost_ns, a->cost.cost_ns) ?: qz_order(a->object, b->object);
}

int qz_lock_finding__add(const struct qz_report *r, struct qz_advice *a,
			 const struct qz_lock_rule *rule)
{
	const struct qz_object_row **rows = calloc((size_t)r->nobjects + 1, sizeof(*rows));
	uint32_t n = 0;
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < r->nobjects; i++)
		if (concerns(r, &r->objects[i], rule))
			rows[n++] = &r->objects[i];
	if (n)
		qsort(rows, n, sizeof(*rows), compare);
	for (uint32_t i = 0; !err && i < n && i < MOST_OBJECTS; i++)
		err = add(r, a, rule, rows[i]);
	free(rows);
	return err;
}
