/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches and wake-ups, and the rules of what was not seen, or is told in another order than it happened.
 *
 * A switch names who leaves. If that is not who came last, a switch was not seen: who was there is not known from now on,
 * and who leaves came just now. If who leaves has meanwhile been seen to come elsewhere, the two processors' records are
 * in the wrong order: it has left already.
 */
#include "core/replay/state.h"

/* ---- processors ---- */

void replay_cpu__take_away(struct replay *r, const struct replay_row *t)
{
	struct replay_cpu *c = &r->cpus[t->cpu];

	if (t->pub.state != REPLAY_RUNNING)
		return;
	c->thread = REPLAY_NONE;
	c->gone = true;
	c->at = r->now;
}

/* Who is there has left, nobody knows when and how. */
static void replay_cpu__vanish(struct replay *r, struct replay_cpu *c)
{
	struct replay_row *t;

	if (c->thread == REPLAY_NONE)
		return;
	t = replay__row(r, c->thread);
	c->thread = REPLAY_NONE;
	t->woken_early = false;
	replay_row__enter(r, t, REPLAY_UNKNOWN);
}

void replay_cpu__forget(struct replay *r, uint32_t cpu)
{
	replay_cpu__vanish(r, &r->cpus[cpu]);
	r->cpus[cpu].seen = false;
	r->cpus[cpu].gone = false;
}

/* ---- wake-ups ---- */

static struct replay_waker replay_waker__of(const struct replay *r, uint32_t cpu,
					    const struct qz_log_record *record)
{
	const struct replay_cpu *c = &r->cpus[cpu];
	struct replay_waker waker = {.cause = record->cause,
				     .by_call = record->state == QZ_LOG_BY_CALL};
	uint32_t i = REPLAY_NONE;

	if (waker.by_call)
		i = c->tid == record->other && c->thread != REPLAY_NONE
			    ? c->thread
			    : replay_row__find(r, record->other);
	if (i != REPLAY_NONE)
		waker.ref = (struct replay_ref) {i, replay__row(r, i)->pub.serial};
	return waker;
}

/* The thread waits, and can go on from now. */
static void replay_row__wake(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker)
{
	uint64_t room_ns = replay_parallelism__room_ns(r->machine, r->now) - t->stay.room_ns;

	replay_queue__leave(r, t, waker);
	replay_wakeup__add(r, t, waker, t->pub.state == REPLAY_BLOCKED ? room_ns : 0);
	replay_row__enter(r, t, REPLAY_READY);
}

void replay__apply_waking(struct replay *r, uint32_t cpu, const struct qz_log_record *record)
{
	uint32_t i = replay_row__find(r, record->tid);
	struct replay_waker waker = replay_waker__of(r, cpu, record);
	struct replay_row *t = i != REPLAY_NONE ? replay__row(r, i) : NULL;

	if (!t) {
		r->counts.strange++;
		return;
	}
	switch (t->pub.state) {
	case REPLAY_BLOCKED:
		replay_row__wake(r, t, &waker);
		break;
	case REPLAY_UNKNOWN: /* it slept, or there would be no wake-up */
		replay_stay__begin(r, t, QZ_WAIT_UNKNOWN, NULL);
		replay_row__wake(r, t, &waker);
		break;
	case REPLAY_RUNNING:
		if (t->owes_waking && r->now - t->came <= REPLAY_NEAR_NS) {
			t->owes_waking = false;
			r->counts.unwoken--;
			replay_wakeup__add(r, t, &waker, 0);
			break;
		}
		t->woken_early = true;
		t->early_at = r->now;
		t->early = waker;
		break;
	default: /* it can go on already */
		break;
	}
}

/* ---- switches ---- */

static void replay_row__come(struct replay *r, struct replay_row *t, uint32_t cpu)
{
	if (t->pub.state == REPLAY_RUNNING)
		replay_cpu__take_away(r, t);
	t->owes_waking = t->pub.state == REPLAY_BLOCKED;
	r->counts.unwoken += t->owes_waking;
	t->woken_early = false;
	t->cpu = cpu;
	t->came = r->now;
	if (replay_row__waits(t))
		replay_stay__end(r, t);
	replay_row__enter(r, t, REPLAY_RUNNING);
}

void replay_cpu__recognize(struct replay *r, struct replay_row *t)
{
	for (uint32_t i = 0; i < r->options.processors; i++) {
		struct replay_cpu *c = &r->cpus[i];

		if (!c->seen || c->tid != t->pub.tid || c->thread != REPLAY_NONE || c->gone ||
		    r->now - c->at > REPLAY_NEAR_NS)
			continue;
		c->thread = (uint32_t)(t - replay__row(r, 0));
		replay_row__come(r, t, i);
		return;
	}
}

static void replay_row__block(struct replay *r, struct replay_row *t,
			      const struct qz_log_record *record)
{
	bool woken = t->woken_early && r->now - t->early_at <= REPLAY_NEAR_NS;

	replay_stay__begin(r, t, QZ_WAIT_UNKNOWN, record);
	if (woken)
		replay_row__wake(r, t, &t->early);
	else
		replay_row__enter(r, t, REPLAY_BLOCKED);
}

static void replay_row__leave(struct replay *r, struct replay_row *t,
			      const struct qz_log_record *record)
{
	if (record->state == QZ_LOG_DEAD) {
		if (record->object > t->account_base)
			t->pub.account_ns = record->object - t->account_base;
		replay_row__end(r, t);
		return;
	}
	if (record->state == QZ_LOG_BLOCKED) {
		replay_row__block(r, t, record);
	} else {
		replay_stay__begin(r, t, QZ_WAIT_PREEMPTED, NULL);
		replay_row__enter(r, t, REPLAY_READY);
	}
	t->woken_early = false;
	t->owes_waking = false;
}

/* A thread that a switch names: it is taken in if each process counts and it is a new one. */
static struct replay_row *replay__meet(struct replay *r, uint32_t tid)
{
	uint32_t i = tid ? replay_row__find(r, tid) : REPLAY_NONE;
	struct replay_row *t;

	if (i != REPLAY_NONE)
		return replay__row(r, i);
	if (!tid || !r->options.every_process)
		return NULL;
	r->counts.unborn++;
	t = replay_row__begin(r, tid, REPLAY_NONE);
	t->unborn = true;
	return t;
}

/* The row of who leaves, brought here if it was not; NULL: nobody's, the idle task, or one that has left already. */
static struct replay_row *replay_cpu__leaver(struct replay *r, uint32_t cpu, uint32_t tid)
{
	struct replay_cpu *c = &r->cpus[cpu];
	struct replay_row *t = c->thread != REPLAY_NONE ? replay__row(r, c->thread) : NULL;
	bool expected = c->seen && c->tid == tid, ours = t;

	if (t && expected)
		return t;
	if (expected && c->gone && r->now - c->at <= REPLAY_NEAR_NS)
		return NULL;
	replay_cpu__vanish(r, c);
	t = replay__meet(r, tid);
	if (c->seen && !expected && (ours || t || r->options.every_process))
		r->counts.gaps++;
	if (t)
		replay_row__come(r, t, cpu);
	return t;
}

void replay__apply_switch(struct replay *r, uint32_t cpu, const struct qz_log_record *record)
{
	struct replay_row *t = replay_cpu__leaver(r, cpu, record->tid);
	struct replay_cpu *c = &r->cpus[cpu];

	c->thread = REPLAY_NONE;
	if (t)
		replay_row__leave(r, t, record);
	t = replay__meet(r, record->other);
	if (t)
		replay_row__come(r, t, cpu);
	*c = (struct replay_cpu) {
		.tid = record->other,
		.thread = t ? (uint32_t)(t - replay__row(r, 0)) : REPLAY_NONE,
		.seen = true,
		.at = r->now,
	};
}
