/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Three rules about waits that are too frequent. `fine`: threads meet at barriers and condition
 * variables, or sleep, so often that the waits themselves take the time; locks have their own
 * rules. `in_vain`: one wake-up is for several threads, of which one has something to do. `herd`:
 * the same for threads in poll.
 */

#include "core/advise/advise.h"
#include "core/advise/steps.h"
#include "core/advise/usage.h"
#include "core/costs/cost_walk.h"
#include "core/costs/grain.h"
#include "core/model/objects.h"
#include "core/model/wait_causes.h"

/*
 * A wait and its wake-up take two system calls and two switches, 5 to 10 us of processor time: 2,000 of them a
 * second are 1 to 2 % of a processor. Two threads that meet after 10 us of work each have 70,000, after 1 ms 1,000.
 */
#define LEAST_RATE 2000

/* Longer waits are for long work, of which a context switch is a small part. */
#define LONGEST_NS 200000

struct fine {
	const struct qz_object_row *most; /* the object with the most waits, held locks excluded */
	uint64_t held_waits;		  /* waits for held locks */
	uint64_t waits, blocked_ns, lock_ns, lock_cpu_ns;
};

static bool is_meeting(const struct qz_report *r, const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];

	return o->kind < QZ_OBJECT_FILE && row->waits.count && o->waits &&
	       !qz_objects__is_clock(o) &&
	       (double)o->wait_ns <= (double)LONGEST_NS * (double)o->waits;
}

static bool is_held(const struct qz_report *r, const struct qz_object_row *row)
{
	return qz_object_cost__is_held(r, row);
}

static void find(const struct qz_report *r, struct fine *fine)
{
	*fine = (struct fine) {0};
	for (uint32_t i = 0; i < r->nobjects; i++) {
		const struct qz_object_row *row = &r->objects[i];

		if (!is_meeting(r, row))
			continue;
		fine->waits += row->waits.count;
		fine->blocked_ns += row->waits.blocked_ns;
		fine->lock_ns += row->cost.lock_ns;
		fine->lock_cpu_ns += row->cost.lock_cpu_ns;
		if (is_held(r, row))
			fine->held_waits += row->waits.count;
		else if (!fine->most || row->waits.count > fine->most->waits.count)
			fine->most = row;
	}
}

static double per_second(const struct qz_report *r, uint64_t count)
{
	return r->elapsed_ns ? (double)count / (double)r->elapsed_ns * 1e9 : 0;
}

/*
 * At least the code of the waits is saved. At most the remaining work keeps all free processors
 * busy; or what larger steps gain, if that is more and most of the cost is handing over. 0 or
 * -ENOMEM.
 */
static int set_gain(struct qz_finding *f, const struct qz_report *r, const struct fine *fine)
{
	struct qz_usage u;
	struct qz_steps steps;
	double spare;
	int err = qz_steps__find(&steps, r);

	qz_usage__find(r, &u);
	spare = (double)u.alone_ns * (1 - 1 / u.width) + (double)u.idle_ns;
	f->gain_low_ns = fine->lock_ns;
	f->gain_high_ns = fine->lock_ns + (uint64_t)spare;
	if (!err && steps.cost == QZ_COST_HANDING && steps.gain.high_ns > f->gain_high_ns)
		f->gain_high_ns = steps.gain.high_ns;
	qz_steps__free(&steps);
	return err;
}

int qz_rule__fine(const struct qz_report *r, struct qz_advice *a)
{
	struct qz_finding f;
	struct fine fine;

	find(r, &fine);
	if (!fine.most || per_second(r, fine.waits) < LEAST_RATE ||
	    fine.waits < 2 * fine.held_waits) /* mostly a lock: its own rule says more */
		return 0;
	f = qz_finding__about("fine", r, QZ_SUBJECT_OBJECT, fine.most->object);
	f.word = "WAITING TOO OFTEN";
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE;
	f.failed |= set_gain(&f, r, &fine) != 0;
	qz_finding__say(&f, &f.what,
			"Threads wait for each other %.0f times a second, mostly for %s, each time "
			"for %.0f us.",
			per_second(r, fine.waits), f.shown,
			(double)fine.blocked_ns / (double)fine.waits / 1e3);
	qz_finding__prove(&f, "report", f.subject.name, "%.0f waits a second for it",
			  per_second(r, fine.most->waits.count));
	qz_finding__prove(&f, "objects", NULL, "the code of these waits takes %.0f%% of the time",
			  qz_finding__percent(r, fine.lock_ns));
	qz_finding__say(&f, &f.remedy,
			"do more work between two meetings: larger pieces, batches, fewer phases");
	return qz_advise__add(a, &f);
}

/* ---- woken for nothing ---- */

/*
 * Least share of an object's wake-ups that are for nothing. Less is normal: now and then, a
 * condition is for all to know.
 */
#define MOSTLY 0.5

struct vain {
	const struct qz_object_row *most; /* the object with the most wake-ups for nothing */
	uint64_t wakes, in_vain;	  /* of all such objects */
};

static struct vain find_vain(const struct qz_report *r)
{
	struct vain v = {0};
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->nobjects; i++) {
		uint32_t object = r->objects[i].object;
		const struct qz_object *o = &r->profile->objects[object];
		uint64_t in_vain = qz_objects__in_vain(r->profile, object);

		/* all threads at a barrier have to go on */
		if (o->kind == QZ_OBJECT_BARRIER || (double)in_vain < MOSTLY * (double)o->wakes)
			continue;
		v.wakes += o->wakes;
		v.in_vain += in_vain;
		if (in_vain > most) {
			most = in_vain;
			v.most = &r->objects[i];
		}
	}
	return v;
}

/*
 * At least their share of the cost of all hand-overs is saved. At most all of that cost, and the
 * time for which threads with work waited meanwhile. 0 or -ENOMEM.
 */
static int set_vain_gain(struct qz_finding *f, const struct qz_report *r, const struct vain *v)
{
	struct qz_usage u;
	struct qz_steps steps;
	struct qz_grain g;
	int err = qz_steps__find(&steps, r);
	double handing_ns = (double)steps.table.classes[QZ_COST_HANDING].figure.norm_ns, all;

	g = qz_grain__find(&r->profile->scopes[r->scope], &steps.table);
	qz_usage__find(r, &u);
	all = (double)(g.hand_overs > v->wakes ? g.hand_overs : v->wakes);
	f->gain_low_ns = (uint64_t)((double)v->in_vain / all * handing_ns);
	f->gain_high_ns =
		(uint64_t)(handing_ns + (double)u.idle_ns + (double)u.alone_ns * (1 - 1 / u.width));
	if (!err && steps.cost == QZ_COST_HANDING && steps.gain.high_ns > f->gain_high_ns)
		f->gain_high_ns = steps.gain.high_ns;
	qz_steps__free(&steps);
	return err;
}

int qz_rule__in_vain(const struct qz_report *r, struct qz_advice *a)
{
	struct vain v = find_vain(r);
	struct qz_finding f;

	if (!v.most || per_second(r, v.in_vain) < LEAST_RATE)
		return 0;
	f = qz_finding__about("in_vain", r, QZ_SUBJECT_OBJECT, v.most->object);
	f.word = "WOKEN FOR NOTHING";
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE | QZ_LOST_READY;
	f.failed |= set_vain_gain(&f, r, &v) != 0;
	qz_finding__say(&f, &f.what,
			"Threads are woken for nothing: of those that %s woke together, one had "
			"something to do, and %.0f a second had not.",
			f.shown, per_second(r, v.in_vain));
	qz_finding__prove(&f, "report", f.subject.name,
			  "%.0f%% of %.0f wake-ups a second were for nothing",
			  100 * (double)v.in_vain / (double)v.wakes, per_second(r, v.wakes));
	qz_finding__say(
		&f, &f.remedy,
		"wake one: pthread_cond_signal (notify_one) instead of broadcast, a condition "
		"for each kind of waiter, or a semaphore");
	return qz_advise__add(a, &f);
}

/* ---- herds ---- */

/* The procedure of the program that waits for events most often; QZ_NONE: none is known. 0 or -ENOMEM. */
static int find_watcher(const struct qz_report *r, uint64_t *count, uint32_t *procedure)
{
	const struct qz_profile *p = r->profile;
	const struct qz_wait *most = NULL;
	struct qz_cost_walk walk;
	int err = qz_cost_walk__init(&walk, p);

	*count = 0;
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!qz_scope__covers(p, r->scope, w->scope) ||
		    qz_wait_cause__kind(p->causes[w->cause]) != QZ_WAIT_IS_POLL)
			continue;
		*count += w->count;
		if (!most || w->count > most->count)
			most = w;
	}
	*procedure = !err && most ? qz_cost_walk__at(&walk, most->node).asker : QZ_NONE;
	qz_cost_walk__free(&walk);
	return err;
}

/* Whether the steps are those of a herd: its calls, or hand-overs, most of which wake it for nothing. */
static bool are_of_herd(const struct qz_steps *s, const struct qz_report *r, uint32_t procedure)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	struct qz_grain g = qz_grain__find(scope, &s->table);

	if (s->cost == QZ_COST_HANDING)
		return (double)scope->counters.events_in_vain >= MOSTLY * (double)g.hand_overs;
	return s->most && s->most->asker == procedure;
}

/*
 * At most what larger steps would gain, if these are the herd's; else its share of the cost of
 * calls. 0 or -ENOMEM.
 */
static int set_herd_gain(struct qz_finding *f, const struct qz_report *r, double share,
			 uint32_t procedure)
{
	struct qz_steps steps;
	int err = qz_steps__find(&steps, r);

	if (!err && are_of_herd(&steps, r, procedure))
		f->gain_high_ns = steps.gain.high_ns;
	else if (!err)
		f->gain_high_ns =
			(uint64_t)(share *
				   (double)steps.table.classes[QZ_COST_CALLS].figure.norm_ns);
	qz_steps__free(&steps);
	return err;
}

/*
 * An event wakes all threads that wait for a descriptor, each in a poll of its own, and one of them
 * gets it.
 */
int qz_rule__herd(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_scope_counters *c = &r->profile->scopes[r->scope].counters;
	uint64_t vain = c->events_in_vain, count;
	struct qz_finding f;
	uint32_t procedure;
	int err;

	if (per_second(r, vain) < LEAST_RATE ||
	    (double)vain < MOSTLY * ((double)vain + (double)c->events_shared))
		return 0;
	err = find_watcher(r, &count, &procedure);
	if (err || procedure == QZ_NONE || count < vain)
		return err;
	f = qz_finding__about("herd", r, QZ_SUBJECT_PROCEDURE, procedure);
	f.word = "WOKEN FOR NOTHING";
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE | QZ_LOST_READY;
	f.failed |= set_herd_gain(&f, r, (double)vain / (double)count, procedure) != 0;
	qz_finding__say(
		&f, &f.what,
		"An event wakes all threads that wait in %s, and one of them gets it: %.0f a "
		"second are woken for nothing.",
		f.shown, per_second(r, vain));
	qz_finding__prove(&f, "report --waits", NULL,
			  "%.0f%% of %.0f waits for events a second ended for nothing",
			  100 * (double)vain / (double)count, per_second(r, count));
	qz_finding__say(
		&f, &f.remedy,
		"EPOLLEXCLUSIVE for what several threads watch, one epoll for all of them, or "
		"a socket for each (SO_REUSEPORT)");
	return qz_advise__add(a, &f);
}
