/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How small the steps of a scope are: threads and processes that it starts, the processor time between two hand-overs, and
 * between two waits for events.
 */
#include <string.h>

#include "core/model/workers.h"
#include "core/replay/state.h"

#define US 1000

void replay_grain__start(struct replay *r, const struct replay_row *t, uint32_t creator)
{
	bool is_process = t->pub.tid == t->pub.process;
	uint32_t scope = t->pub.scope;

	if (is_process) /* it may be a scope of its own */
		scope = creator != REPLAY_NONE ? replay__row(r, creator)->pub.scope : REPLAY_NONE;
	if (scope == REPLAY_NONE)
		return;
	if (is_process)
		replay__parallelism(r, scope)->pub.processes_started++;
	else
		replay__parallelism(r, scope)->pub.threads_started++;
}

static uint32_t grain_of(uint64_t ns)
{
	uint64_t us = ns / US;
	uint32_t i = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	return i < QZ_GRAINS ? i : QZ_GRAINS - 1;
}

/* The waker, if it is another living thread of the same scope. */
static bool is_fellow(const struct replay *r, const struct replay_row *t,
		      const struct replay_waker *waker)
{
	const struct replay_row *by = replay__row(r, waker->ref.row);

	return waker->ref.serial && by->pub.serial == waker->ref.serial && by != t &&
	       t->pub.scope != REPLAY_NONE && by->pub.scope == t->pub.scope;
}

/* ---- volleys ---- */

/*
 * Finds programs that wake all waiters although one is enough. Of the threads that were woken at once, one finds work; the others do
 * next to nothing and wait for the same object again. That the others do little is not enough: if steps are small, each thread does
 * as little. A thread that is woken alone tells nothing: it may have done all the work that there was.
 */
#define AT_ONCE_NS                                                                                 \
	50000 /* running time of the waker from one wake-up to the next; in a guest, the host may take some of it */
#define NOTHING_NS 20000 /* a thread that runs for less than this has found no work */

static struct replay_volley *volley_of(struct replay *r, uint32_t serial)
{
	struct replay_volley *v = &r->volleys[serial % VOLLEYS];

	return serial && v->serial == serial ? v : NULL;
}

static void tell(struct replay *r, struct replay_volley *v)
{
	if (!v->useful || v->members < 2 || v->object == REPLAY_NONE)
		return;
	replay__queue(r, v->object)->pub.in_vain += v->in_vain;
	v->in_vain = 0;
}

static struct replay_volley *begin_volley(struct replay *r, uint32_t object)
{
	uint32_t serial = ++r->last_volley ?: ++r->last_volley;
	struct replay_volley *v = &r->volleys[serial % VOLLEYS];

	*v = (struct replay_volley) {.serial = serial, .object = object, .scope = REPLAY_NONE};
	return v;
}

/* A condition variable has two adjacent words: new waiters wait at one, those of the present wake-up at the other. */
static bool is_same(const struct replay *r, uint32_t a, uint32_t b)
{
	const struct replay_object *x, *y;

	if (a == b || a == REPLAY_NONE || b == REPLAY_NONE)
		return a == b;
	x = &replay__queue(r, a)->pub;
	y = &replay__queue(r, b)->pub;
	return x->tag == QZ_TAG_FUTEX && y->tag == QZ_TAG_FUTEX && x->process == y->process &&
	       (x->address ^ y->address) == sizeof(uint32_t);
}

/* Not if it has yet to find out what an earlier wake-up was for: it only waited for a lock in between. */
static void join_volley(struct replay *r, struct replay_row *t, struct replay_row *by)
{
	struct replay_volley *v = volley_of(r, by->shot);
	uint64_t ran = replay_row__ran(r, by);

	if (volley_of(r, t->volley) || t->stay.object == REPLAY_NONE)
		return;
	if (!v || v->serial == t->joined || !is_same(r, v->object, t->stay.object) ||
	    ran - by->shot_ran > AT_ONCE_NS)
		v = begin_volley(r, t->stay.object);
	v->members++;
	by->shot = t->volley = t->joined = v->serial;
	by->shot_ran = ran;
	t->volley_ran = replay_row__ran(r, t);
	t->gave = false;
}

/*
 * Finds herds: threads that poll the same descriptor, so that each event wakes all of them and one gets it. The log does not say
 * what they poll. But again and again, one of them runs far longer than all others, which do next to nothing. If each thread
 * has messages of its own instead, some run longer than others, but none does all the work.
 */
#define HERD	   3 /* threads; two may be a pair that works in turns */
#define FAR_LONGER 3
#define LONG_NS                                                                                    \
	(1ull << 40) /* stands for the running time of a thread that goes on after another wait */
#define DISTURBED 8  /* one of so many idle threads may run longer, because it was interrupted */

void replay_grain__wake(struct replay *r, struct replay_row *t, const struct replay_waker *waker)
{
	struct replay_cpu *cpu = &r->cpus[waker->cpu];
	struct replay_volley *v = volley_of(r, cpu->herd);

	if (t->stay.cause != QZ_WAIT_POLL || t->pub.scope == REPLAY_NONE)
		return;
	if (!v || v->scope != t->pub.scope || r->now - cpu->herd_at > AT_ONCE_NS) {
		v = begin_volley(r, REPLAY_NONE);
		v->scope = t->pub.scope;
	}
	v->members++;
	cpu->herd = t->volley = v->serial;
	cpu->herd_at = r->now;
	t->volley_ran = replay_row__ran(r, t);
}

/* Whether one of them did all the work. */
static bool one_had_all(const struct replay_volley *v)
{
	uint32_t next = 1 + v->members / DISTURBED;
	uint64_t other = v->longest[next < HERD_LONGEST ? next : HERD_LONGEST - 1];

	return other < NOTHING_NS && v->longest[0] >= FAR_LONGER * other;
}

/* A thread of a herd begins to wait after this running time. */
static void leave_herd(struct replay *r, struct replay_row *t, struct replay_volley *v,
		       uint64_t ran)
{
	struct replay_scope *s;

	if (ran < NOTHING_NS && t->stay.cause == QZ_WAIT_FUTEX)
		return; /* it takes a lock to look for work */
	t->volley = 0;
	if (t->pub.scope != v->scope)
		return;
	if (t->stay.cause != QZ_WAIT_POLL)
		ran = LONG_NS;
	for (uint32_t i = 0; i < HERD_LONGEST; i++) {
		uint64_t longer = ran > v->longest[i] ? ran : v->longest[i];

		ran = ran > v->longest[i] ? v->longest[i] : ran;
		v->longest[i] = longer;
	}
	if (++v->left < v->members || v->members < HERD)
		return;
	s = &replay__parallelism(r, v->scope)->pub;
	if (one_had_all(v))
		s->events_in_vain += v->members - 1;
	else
		s->events_shared += v->members;
}

void replay_grain__block(struct replay *r, struct replay_row *t)
{
	struct replay_volley *v = volley_of(r, t->volley);
	uint64_t ran = replay_row__ran(r, t) - t->volley_ran;

	t->shot = 0;
	if (v && v->scope != REPLAY_NONE) {
		leave_herd(r, t, v, ran);
		return;
	}
	if (!v || v->object == REPLAY_NONE) {
		t->volley = 0;
		return;
	}
	if (ran >= NOTHING_NS || t->stay.cause != QZ_WAIT_FUTEX)
		v->useful = true;
	else if (t->gave)
		; /* undecided: a small step, or a lock that others wait for */
	else if (is_same(r, v->object, t->stay.object))
		v->in_vain++;
	else /* it takes a lock to look for work */
		return;
	t->volley = 0;
	tell(r, v);
}

void replay_grain__drop_object(struct replay *r, uint32_t object)
{
	for (uint32_t i = 0; i < VOLLEYS; i++)
		if (r->volleys[i].object == object)
			r->volleys[i].object = REPLAY_NONE;
}

/* ---- hand-overs ---- */

void replay_grain__hand_over(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker, uint64_t ran)
{
	struct replay_row *by = replay__row(r, waker->ref.row);

	if (!is_fellow(r, t, waker))
		return;
	t->stay.handed = true;
	replay__parallelism(r, t->pub.scope)
		->pub.grain[grain_of(ran > t->handed_at ? ran - t->handed_at : 0)]++;
	t->handed_at = ran;
	/* if both were woken in one volley, the waker only passed on a lock: no hand-over */
	by->gave |= !by->volley || by->volley != t->volley;
	if (replay_waker__wakes_words(waker))
		join_volley(r, t, by);
}

/* ---- turns of event loops ---- */

/* Whether the thread waits for its next work. A worker that has never polled may be no event loop. */
static bool waits_for_events(const struct replay_row *t)
{
	return t->stay.cause == QZ_WAIT_POLL ||
	       (t->stay.cause == QZ_WAIT_FUTEX && (t->in_turn || t->pub.loop.turns) &&
		qz_worker__has_name(t->pub.comm));
}

void replay_grain__begin_turn(struct replay_row *t)
{
	if (!waits_for_events(t))
		return;
	t->in_turn = true;
	memcpy(t->turn_ns, t->pub.ns, sizeof(t->turn_ns));
}

/* Duration of the present turn. 0: there is none, or records are missing, so that it may have waited for events. */
static uint64_t turn_of(const struct replay *r, struct replay_row *t, uint64_t *waited)
{
	*waited = 0;
	if (!t->in_turn)
		return 0;
	replay_row__charge(r, t);
	if (t->pub.ns[REPLAY_UNKNOWN] != t->turn_ns[REPLAY_UNKNOWN])
		return 0;
	*waited = t->pub.ns[REPLAY_BLOCKED] - t->turn_ns[REPLAY_BLOCKED];
	return *waited + t->pub.ns[REPLAY_RUNNING] - t->turn_ns[REPLAY_RUNNING];
}

bool replay_grain__is_blocked(const struct replay *r, struct replay_row *t)
{
	uint64_t waited;

	return turn_of(r, t, &waited) >= QZ_LOOP_BLOCK_NS;
}

void replay_grain__end_turn(const struct replay *r, struct replay_row *t)
{
	struct qz_loop *loop = &t->pub.loop;
	uint64_t waited, ns;

	if (!waits_for_events(t))
		return;
	ns = turn_of(r, t, &waited);
	t->in_turn = false;
	if (!ns)
		return;
	loop->turns++;
	loop->turn_ns += ns;
	if (ns < QZ_LOOP_BLOCK_NS)
		return;
	loop->blocks++;
	loop->block_ns += ns;
	loop->block_waited_ns += waited;
	loop->block_ready_ns += t->pub.ns[REPLAY_READY] - t->turn_ns[REPLAY_READY];
	if (ns > loop->longest_ns)
		loop->longest_ns = ns;
}
