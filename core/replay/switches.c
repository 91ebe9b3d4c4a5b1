/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Switches and wake-ups, and the rules for records that are missing or out of order.
 *
 * A switch names the thread that leaves. If another thread came to the processor last, a switch was missed: the state of
 * that other thread is unknown from now on, and the leaving thread counts as just come. If the leaving thread has already
 * come to another processor, the records of the two processors are in the wrong order, and it has left already.
 */
#include <errno.h>

#include "core/replay/state.h"

/* Whether switches of some threads are not in the log. */
static bool is_filtered(const struct replay *r)
{
	return !r->options.every_process || r->options.filtered;
}

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

/* The thread on the processor has left; when and why is not known. */
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

int replay__forget_waits(struct replay *r)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		if (!replay__row(r, i)->lives || !replay_row__waits(replay__row(r, i)))
			continue;
		if (replay__make_room(r)) /* which moves rows */
			return -ENOMEM;
		replay_row__forget_wait(r, replay__row(r, i));
	}
	return 0;
}

/* ---- wake-ups ---- */

static struct replay_waker replay_waker__of(struct replay *r, uint32_t cpu,
					    const struct qz_log_record *record)
{
	const struct replay_cpu *c = &r->cpus[cpu];
	struct replay_waker waker = {.cause = record->cause,
				     .site = record->site,
				     .by_call = record->state == QZ_LOG_BY_CALL,
				     .cpu = cpu};
	uint32_t i = REPLAY_NONE;

	if (waker.by_call)
		i = c->tid == record->other && c->thread != REPLAY_NONE
			    ? c->thread
			    : replay_row__find(r, record->other);
	if (i == REPLAY_NONE)
		return waker;
	waker.ref = (struct replay_ref) {i, replay__row(r, i)->pub.serial};
	waker.place = replay_place__of(r, replay__row(r, i), record->site);
	return waker;
}

/* A blocked thread becomes ready. */
static void replay_row__wake(struct replay *r, struct replay_row *t,
			     const struct replay_waker *waker)
{
	uint64_t room_ns = replay_parallelism__room_ns(r->machine, r->now) - t->stay.room_ns;

	if (t->bound) /* its processor is idle, or runs another thread, mostly the waker */
		room_ns = r->cpus[t->cpu].thread == REPLAY_NONE ? r->now - t->stay.began : 0;
	if (r->steps)
		replay_steps__wake(r, t, waker);
	replay_grain__hand_over(r, t, waker, replay_row__ran(r, t));
	replay_grain__wake(r, t, waker);
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
	case REPLAY_UNKNOWN: /* it must have slept, since it is woken */
		replay_stay__begin(r, t, QZ_WAIT_UNKNOWN, NULL);
		replay_row__wake(r, t, &waker);
		break;
	case REPLAY_RUNNING:
		if (t->owes_waking && r->now - t->came <= REPLAY_NEAR_NS) {
			t->owes_waking = false;
			r->counts.unwoken--;
			replay_grain__hand_over(r, t, &waker, replay_row__ran_before(r, t));
			replay_wakeup__add(r, t, &waker, 0);
			break;
		}
		t->woken_early = true;
		t->early_at = r->now;
		t->early = waker;
		break;
	default: /* it is ready or runs */
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
	if (r->steps)
		replay_steps__come(r, t);
	if (replay_row__waits(t)) {
		replay_stay__end(r, t);
		replay_grain__begin_turn(t);
	}
	replay_row__enter(r, t, REPLAY_RUNNING);
}

void replay_cpu__recognize(struct replay *r, struct replay_row *t, uint64_t ns)
{
	for (uint32_t i = 0; i < r->options.processors; i++) {
		struct replay_cpu *c = &r->cpus[i];

		if (!c->seen || c->tid != t->pub.tid || c->thread != REPLAY_NONE || c->gone ||
		    r->now - c->at > ns)
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

	replay_stay__begin(r, t, record->cause & ~QZ_LOG_BOUND, record);
	replay_grain__block(r, t);
	replay_grain__end_turn(r, t);
	if (r->steps)
		replay_steps__block(r, t, record->object);
	if (woken)
		replay_row__wake(r, t, &t->early);
	else
		replay_row__enter(r, t, REPLAY_BLOCKED);
}

static void replay_row__leave(struct replay *r, struct replay_row *t,
			      const struct qz_log_record *record)
{
	t->bound = record->cause & QZ_LOG_BOUND;
	if (record->state == QZ_LOG_DEAD) {
		if (record->object > t->account_base)
			t->pub.account_ns = record->object - t->account_base;
		replay_row__end(r, t);
		return;
	}
	if (record->state == QZ_LOG_BLOCKED) {
		replay_row__block(r, t, record);
	} else {
		replay_stay__begin(r, t, QZ_WAIT_PREEMPTED, record->site ? record : NULL);
		if (r->steps)
			replay_steps__preempt(r, t);
		replay_row__enter(r, t, REPLAY_READY);
	}
	t->woken_early = false;
	t->owes_waking = false;
}

/* The thread that a switch names. If every process counts, an unknown one gets a row. */
static struct replay_row *replay__meet(struct replay *r, uint32_t tid)
{
	uint32_t i = tid ? replay_row__find(r, tid) : REPLAY_NONE;
	struct replay_row *t;

	if (i != REPLAY_NONE)
		return replay__row(r, i);
	/* after all threads were found, only those that are in no list are unknown, and not all of their switches are seen */
	if (!tid || is_filtered(r) || (r->settled && !r->counts.lost_ns))
		return NULL;
	r->counts.unborn++;
	t = replay_row__begin(r, tid, REPLAY_NONE);
	t->unborn = true;
	return t;
}

/*
 * In an exec by another thread than the first one, these two threads exchange their numbers before the EXEC record is
 * written. So one of them may leave a processor to which the other one came.
 */
static void replay_cpu__see_heir(struct replay *r, const struct replay_cpu *c, uint32_t tid)
{
	struct replay_row *here = c->thread != REPLAY_NONE ? replay__row(r, c->thread) : NULL;
	uint32_t i = replay_row__find(r, tid), own = here ? here->pub.tid : 0;
	struct replay_row *other = i != REPLAY_NONE ? replay__row(r, i) : NULL;
	struct replay_row *first;

	if (!here || !tid || own == tid || (other && other->process_row != here->process_row))
		return;
	if (tid == here->pub.process)
		first = other;
	else if (own == here->pub.process && other)
		first = here;
	else
		return;
	if (first && !first->exits)
		return;
	replay_row__renumber(r, here, tid);
	if (other)
		replay_row__renumber(r, other, own);
	(first == here ? other : here)->heir = true;
}

/* The row of the leaving thread, which is brought here if need be. NULL: it has none, is the idle task, or has left already. */
static struct replay_row *replay_cpu__leaver(struct replay *r, uint32_t cpu, uint32_t tid)
{
	struct replay_cpu *c = &r->cpus[cpu];
	struct replay_row *t = c->thread != REPLAY_NONE ? replay__row(r, c->thread) : NULL;
	bool expected, ours = t;

	if (c->seen && c->tid != tid)
		replay_cpu__see_heir(r, c, tid);
	expected = c->seen && c->tid == tid;
	if (t && expected)
		return t;
	if (expected && c->gone && r->now - c->at <= REPLAY_NEAR_NS)
		return NULL;
	replay_cpu__vanish(r, c);
	t = replay__meet(r, tid);
	if (c->seen && !expected && (ours || t || !is_filtered(r)))
		r->counts.gaps++;
	if (t)
		replay_row__come(r, t, cpu);
	return t;
}

/* The named thread is on this processor. If another one was, a switch was missed. */
static void replay_cpu__settle(struct replay *r, uint32_t cpu, uint32_t tid)
{
	struct replay_cpu *c = &r->cpus[cpu];
	struct replay_row *t;

	if (c->seen && c->tid == tid)
		return;
	r->counts.gaps += c->seen;
	if (c->seen && !c->tid)
		c->idle_ns += r->now - c->at;
	replay_cpu__vanish(r, c);
	t = replay__meet(r, tid);
	if (t)
		replay_row__come(r, t, cpu);
	*c = (struct replay_cpu) {
		.idle_ns = c->idle_ns,
		.tid = tid,
		.thread = t ? (uint32_t)(t - replay__row(r, 0)) : REPLAY_NONE,
		.seen = true,
		.at = r->now,
	};
}

uint64_t replay__idle_ns(const struct replay *r, uint32_t cpu, uint64_t *since)
{
	const struct replay_cpu *c = &r->cpus[cpu];

	*since = c->seen && !c->tid ? c->at : 0;
	return c->idle_ns;
}

void replay__apply_switch(struct replay *r, uint32_t cpu, const struct qz_log_record *record)
{
	struct replay_cpu *c = &r->cpus[cpu];
	struct replay_row *t;

	if (record->tid == record->other) {
		replay_cpu__settle(r, cpu, record->tid);
		return;
	}
	if (c->seen && !c->tid && !record->tid)
		c->idle_ns += r->now - c->at;
	t = replay_cpu__leaver(r, cpu, record->tid);
	c->thread = REPLAY_NONE;
	if (t)
		replay_row__leave(r, t, record);
	t = replay__meet(r, record->other);
	if (t)
		replay_row__come(r, t, cpu);
	*c = (struct replay_cpu) {
		.idle_ns = c->idle_ns,
		.tid = record->other,
		.thread = t ? (uint32_t)(t - replay__row(r, 0)) : REPLAY_NONE,
		.seen = true,
		.at = r->now,
	};
}

/* ---- samples ---- */

void replay__apply_sample(struct replay *r, uint32_t cpu, const struct qz_log_record *record)
{
	const struct replay_calls *calls = &r->options.calls;
	uint32_t i = replay_row__find(r, record->tid);
	struct replay_row *t = i != REPLAY_NONE ? replay__row(r, i) : NULL;
	struct replay_moment moment = {.held = REPLAY_NONE};

	if (t)
		replay_cpu__settle(r, cpu, record->tid);
	if (r->steps && t)
		replay_steps__sample(r, t, record);
	if (t && r->options.woken)
		replay_window__sample(r, t, record->site);
	if (!calls->sampled)
		return;
	moment.machine = r->machine->pub.running;
	if (t) {
		moment.thread = &t->pub;
		moment.held = replay_queue__held(r, t);
		moment.in_block = replay_grain__is_blocked(r, t);
	}
	if (t && t->pub.scope != REPLAY_NONE)
		moment.level = replay__parallelism(r, t->pub.scope)->pub.running;
	if (t && moment.held == REPLAY_NONE)
		replay_queue__doubt(r, t, cpu, record);
	calls->sampled(calls->context, cpu, record, &moment);
}
