/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads: how they begin and end, who they are, and the time in each state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/state.h"

static uint32_t replay_row__hash(uint32_t tid)
{
	return qz_hash_table__hash_number(0, tid);
}

static bool replay_row__is(const void *context, uint32_t i, const void *key)
{
	return replay__row(context, i)->pub.tid == *(const uint32_t *)key;
}

uint32_t replay_row__find(const struct replay *r, uint32_t tid)
{
	return qz_hash_table__find(&r->threads.index, replay_row__hash(tid), replay_row__is, r,
				   &tid);
}

static uint32_t replay_row__number(const struct replay *r, const struct replay_row *t)
{
	return (uint32_t)(t - replay__row(r, 0));
}

/* ---- states ---- */

void replay_row__charge(const struct replay *r, struct replay_row *t)
{
	uint64_t elapsed = r->now - t->pub.since;

	t->pub.ns[t->pub.state] += elapsed;
	if (t->pub.state == REPLAY_BLOCKED)
		t->stay.blocked_ns += elapsed;
	else if (t->pub.state == REPLAY_READY)
		t->stay.ready_ns += elapsed;
	t->pub.since = r->now;
}

void replay_row__restart(struct replay *r, struct replay_row *t)
{
	replay_row__charge(r, t);
	t->account_base += t->pub.ns[REPLAY_RUNNING];
	t->pub.began = r->now;
	t->handed_at = 0;
	memset(t->pub.ns, 0, sizeof(t->pub.ns));
	t->pub.loop = (struct qz_loop) {0};
	t->pub.transfers = (struct qz_transfers) {0};
	t->in_turn = false;
	if (replay_row__waits(t))
		replay_stay__restart(r, t);
}

static bool is_runnable(enum replay_state state)
{
	return state == REPLAY_RUNNING || state == REPLAY_READY;
}

void replay_row__forget_wait(struct replay *r, struct replay_row *t)
{
	replay_stay__end(r, t);
	replay_row__enter(r, t, REPLAY_UNKNOWN);
}

/* While records of a processor are lost, any thread that is on no processor may come to it and leave it. */
void replay_row__enter(struct replay *r, struct replay_row *t, enum replay_state state)
{
	int running = (state == REPLAY_RUNNING) - (t->pub.state == REPLAY_RUNNING);
	int runnable = is_runnable(state) - is_runnable(t->pub.state);

	replay_row__charge(r, t);
	t->pub.state = state;
	if (running || runnable) {
		replay_parallelism__change(r->machine, running, runnable, r->now);
		if (t->pub.scope != REPLAY_NONE)
			replay_parallelism__change(replay__parallelism(r, t->pub.scope), running,
						   runnable, r->now);
	}
	if (r->now < r->lost_until && replay_row__waits(t))
		replay_row__forget_wait(r, t);
}

/* ---- begin and end ---- */

struct replay_row *replay_row__begin(struct replay *r, uint32_t tid, uint32_t process)
{
	bool fresh;
	uint32_t i = replay_rows__take(&r->threads, &r->free_threads,
				       offsetof(struct replay_row, next), &fresh);
	struct replay_row *t = replay__row(r, i);

	*t = (struct replay_row) {
		.pub = {.serial = ++r->last_serial,
			.tid = tid,
			.process = REPLAY_NONE,
			.scope = REPLAY_NONE,
			.began = r->now,
			.since = r->now},
		.lives = true,
		.finding = r->findings,
		.process_row = REPLAY_NONE,
		.stay.object = REPLAY_NONE,
		.last_place = REPLAY_NONE,
		.held = REPLAY_NONE,
		.released = REPLAY_NONE,
		.took = REPLAY_NONE,
		.steps = REPLAY_NONE,
		.next = REPLAY_NONE,
	};
	qz_hash_table__insert(&r->threads.index, replay_row__hash(tid), i);
	if (process != REPLAY_NONE)
		replay_process__join(r, process, t);
	if (r->steps)
		replay_steps__begin(r, t);
	return t;
}

static void replay_row__tell_image(const struct replay *r, struct replay_row *t)
{
	if (t->process_row != REPLAY_NONE)
		t->pub.image = replay__process(r, t->process_row)->image;
}

void replay_row__end(struct replay *r, struct replay_row *t)
{
	uint32_t i = replay_row__number(r, t);

	if (r->steps)
		replay_steps__end(r, t);
	replay_cpu__take_away(r, t);
	if (replay_row__waits(t))
		replay_stay__end(r, t);
	replay_queue__release_all(r, t);
	replay_row__enter(r, t, REPLAY_UNKNOWN);
	if (!t->pub.account_ns)
		t->pub.account_ns = t->pub.ns[REPLAY_RUNNING];
	replay_row__tell_image(r, t);
	replay_process__leave(r, t);
	qz_hash_table__remove(&r->threads.index, replay_row__hash(t->pub.tid), i);
	free(t->window);
	t->window = NULL;
	t->lives = false;
	t->pub.ended = true;
	t->next = r->ended_threads;
	r->ended_threads = i;
}

/* The thread has ended unseen. */
static void end_unseen(struct replay *r, struct replay_row *t)
{
	r->counts.unended++;
	replay_row__end(r, t);
}

/* Its present wait is divided in two; the second part belongs to the new row. */
void replay_row__adopt(struct replay *r, struct replay_row *t, uint32_t process)
{
	struct replay_row *n = replay_row__begin(r, t->pub.tid, process), old;

	replay_row__charge(r, t);
	old = *t;
	memcpy(n->pub.comm, old.pub.comm, sizeof(n->pub.comm));
	n->pub.number = old.pub.number;
	n->pub.told_tid = old.pub.told_tid;
	n->pub.told_process = old.pub.told_process;
	n->own_tid = old.own_tid;
	n->told = old.told;
	n->account_base = old.account_base + old.pub.ns[REPLAY_RUNNING];
	n->bound = old.bound;
	n->came = old.came;
	n->woken_early = old.woken_early;
	n->early_at = old.early_at;
	n->early = old.early;
	n->owes_waking = old.owes_waking;
	replay_row__end(r, t);
	if (replay_row__waits(&old))
		replay_stay__begin(r, n, old.stay.cause, NULL);
	if (old.pub.state == REPLAY_RUNNING) {
		n->cpu = old.cpu;
		r->cpus[n->cpu].thread = replay_row__number(r, n);
		r->cpus[n->cpu].gone = false;
	}
	replay_row__enter(r, n, old.pub.state);
}

/* ---- records ---- */

/* Whether the thread was met at a switch just before the record that introduces it. */
static bool replay_row__is_early(const struct replay *r, const struct replay_row *t)
{
	return t->unborn && r->now - t->pub.began <= REPLAY_NEAR_NS;
}

/*
 * Whether the FORK record is that of a thread which was found already. A new thread is in the kernel's lists before its FORK is
 * written, long before if its creator is preempted in between. It has not run by then, whereas an earlier thread with its
 * number must have run to end.
 */
static bool replay_row__was_found(const struct replay_row *t, uint32_t process)
{
	return t->found && t->pub.process == process && t->pub.state != REPLAY_RUNNING &&
	       !t->pub.ns[REPLAY_RUNNING];
}

/* A process begins: all threads of an earlier process with its number have ended. */
static int replay__end_former(struct replay *r, uint32_t pid)
{
	uint32_t process = replay_process__find(r, pid);

	if (process == REPLAY_NONE)
		return 0;
	for (uint32_t i = 0; replay__process(r, process)->alive && i < r->threads.n; i++) {
		if (!replay__row(r, i)->lives || replay__row(r, i)->process_row != process)
			continue;
		if (replay__make_room(r))
			return -ENOMEM;
		end_unseen(r, replay__row(r, i));
	}
	return 0;
}

/* Whether a thread that was not found has ended unseen. Threads leave the kernel's lists before their last switch. */
static bool replay_row__is_lost(const struct replay *r, const struct replay_row *t)
{
	return t->unborn ||
	       (t->finding != r->findings && !(t->exits && t->pub.state == REPLAY_RUNNING));
}

/* All threads were found: those on no processor that are not known to be blocked are ready. */
static int replay__settle(struct replay *r)
{
	r->settled = true;
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct replay_row *t;

		if (!replay__row(r, i)->lives)
			continue;
		if (replay__make_room(r)) /* for waits that end; this moves rows */
			return -ENOMEM;
		t = replay__row(r, i);
		if (replay_row__is_lost(r, t)) {
			end_unseen(r, t);
		} else if (t->pub.state == REPLAY_UNKNOWN) {
			replay_stay__begin(r, t, QZ_WAIT_PREEMPTED, NULL);
			replay_row__enter(r, t, REPLAY_READY);
		}
	}
	r->findings++;
	return 0;
}

/* For the scope's process, if every process is a scope. */
static void replay__apply_unit(struct replay *r, uint32_t pid, uint64_t unit)
{
	uint32_t i = replay_process__find(r, pid);
	uint32_t scope = i != REPLAY_NONE ? replay__process(r, i)->scope : REPLAY_NONE;

	if (unit && scope != REPLAY_NONE && replay__parallelism(r, scope)->pub.process == pid)
		replay__parallelism(r, scope)->pub.unit = unit;
}

static int replay__apply_fork(struct replay *r, const struct qz_log_record *record)
{
	uint32_t there = replay_row__find(r, record->tid), creator;
	bool early = there != REPLAY_NONE && replay_row__is_early(r, replay__row(r, there));
	struct replay_row *t;
	int64_t process;

	if (there != REPLAY_NONE && replay_row__was_found(replay__row(r, there), record->site))
		return 0;
	if (there != REPLAY_NONE && !early)
		end_unseen(r, replay__row(r, there));
	if (record->tid == record->site && replay__end_former(r, record->site))
		return -ENOMEM;
	creator = replay_row__find(r, record->other);
	process = replay_process__get(r, record->site, creator);
	if (process < 0)
		return (int)process;
	if (early) {
		replay_row__adopt(r, replay__row(r, there), (uint32_t)process);
		replay_grain__start(r, replay__row(r, replay_row__find(r, record->tid)), creator);
		return 0;
	}
	replay__apply_unit(r, record->site, record->object);
	t = replay_row__begin(r, record->tid, (uint32_t)process);
	replay_grain__start(r, t, creator);
	if (r->steps && creator != REPLAY_NONE)
		replay_steps__fork(r, replay__row(r, creator), t);
	if (creator != REPLAY_NONE)
		memcpy(t->pub.comm, replay__row(r, creator)->pub.comm, sizeof(t->pub.comm));
	/* the first wake-up of a thread has another tracepoint, and comes with its FORK */
	replay_stay__begin(r, t, QZ_WAIT_START, NULL);
	replay_row__enter(r, t, REPLAY_READY);
	if (!r->options.every_process || r->options.filtered)
		replay_cpu__recognize(r, t, REPLAY_NEAR_NS);
	return 0;
}

static void replay_row__find_blocked(struct replay *r, struct replay_row *t,
				     const struct qz_log_record *record)
{
	if (t->pub.state != REPLAY_UNKNOWN || record->state != QZ_LOG_FOUND_BLOCKED)
		return;
	replay_stay__begin_at(r, t, record->cause, record->site);
	replay_row__enter(r, t, REPLAY_BLOCKED);
}

/* The kernel's account has running time from before the thread was known, which does not count. */
static void replay_row__leave_out(struct replay *r, struct replay_row *t, uint64_t account)
{
	uint64_t ran;

	replay_row__charge(r, t);
	ran = t->pub.ns[REPLAY_RUNNING];
	if (r->findings && account > ran)
		t->account_base = account - ran;
}

static int replay__apply_found(struct replay *r, const struct qz_log_record *record)
{
	uint32_t there = replay_row__find(r, record->tid);
	struct replay_row *t = there != REPLAY_NONE ? replay__row(r, there) : NULL;
	bool is_new = !t || (!t->unborn && t->pub.process != record->other);
	int64_t process;

	if (t && !t->unborn && !is_new) { /* known by its FORK, or found before */
		t->finding = r->findings;
		replay_row__leave_out(r, t, record->object);
		replay_row__find_blocked(r, t, record);
		return 0;
	}
	process = replay_process__get(r, record->other, REPLAY_NONE);
	if (process < 0)
		return (int)process;
	if (!is_new) {
		replay_row__adopt(r, t, (uint32_t)process);
	} else {
		replay_row__begin(r, record->tid, (uint32_t)process);
		if (t)
			end_unseen(r, t);
	}
	t = replay__row(r, replay_row__find(r, record->tid));
	t->found = true;
	if (is_new && (!r->options.every_process || r->options.filtered))
		replay_cpu__recognize(r, t, UINT64_MAX);
	t->account_base = record->object;
	replay_row__find_blocked(r, t, record);
	return 0;
}

/* Another thread that has the number gets its new one by the next record. */
void replay_row__renumber(struct replay *r, struct replay_row *t, uint32_t tid)
{
	uint32_t i = replay_row__number(r, t);

	qz_hash_table__remove(&r->threads.index, replay_row__hash(t->pub.tid), i);
	t->pub.tid = tid;
	qz_hash_table__insert(&r->threads.index, replay_row__hash(tid), i);
	if (t->pub.state == REPLAY_RUNNING)
		r->cpus[t->cpu].tid = tid;
}

/* The thread has the number of the process from now on; the thread that had it has ended. */
static void replay__apply_exec(struct replay *r, const struct qz_log_record *record)
{
	uint32_t leader = replay_row__find(r, record->tid), i;
	bool is_heir = leader != REPLAY_NONE && replay__row(r, leader)->heir;
	struct replay_row *t;

	i = is_heir ? leader : replay_row__find(r, record->other ?: record->tid);
	t = i != REPLAY_NONE ? replay__row(r, i) : NULL;

	if (!t) {
		r->counts.strange++;
		return;
	}
	if (t->process_row != REPLAY_NONE)
		replay__process(r, t->process_row)->space = ++r->last_space;
	replay_process__set_image(r, t->process_row, QZ_LOG_IMAGE(record->object));
	t->heir = false;
	if (leader == i)
		return;
	if (leader != REPLAY_NONE)
		end_unseen(r, replay__row(r, leader));
	replay_row__renumber(r, t, record->tid);
}

static void replay__apply_numbers(struct replay *r, const struct qz_log_record *record)
{
	uint32_t i = replay_row__find(r, record->tid);

	if (i == REPLAY_NONE) {
		r->counts.strange++;
		return;
	}
	replay__row(r, i)->pub.told_tid = record->other;
	replay__row(r, i)->pub.told_process = record->site;
}

static int replay__apply_identity(struct replay *r, const struct qz_log_record *record)
{
	const struct replay_calls *calls = &r->options.calls;
	uint32_t i = replay_row__find(r, record->tid);
	struct replay_row *t = i != REPLAY_NONE ? replay__row(r, i) : NULL;

	if (!t) {
		r->counts.strange++;
		if (calls->scope && !replay_parallelism__has_number(r, record->site))
			calls->scope(calls->context, REPLAY_NONE, record->site);
		return 0;
	}
	/* it was found as a descendant of a process whose descendants are followed */
	if (t->pub.scope == REPLAY_NONE && t->process_row != REPLAY_NONE) {
		if (replay_process__join_number(r, t->process_row, record->site))
			return -ENOMEM;
		t = replay__row(r, replay_row__find(r, record->tid));
	}
	t->pub.number = QZ_LOG_SERIAL(record->object);
	replay_wait__number(r, t);
	t->own_tid = record->other;
	if (t->pub.scope != REPLAY_NONE)
		replay_parallelism__number(r, t->pub.scope, record->site);
	replay_process__set_image(r, t->process_row, QZ_LOG_IMAGE(record->object));
	return 0;
}

/* Counts never decrease: a lower one is another thread's, or invalid. */
static uint64_t grow(__u64 *told, uint64_t now)
{
	uint64_t more = now > *told ? now - *told : 0;

	*told += more;
	return more;
}

static void replay__apply_transfers(struct replay *r, const struct qz_log_record *record)
{
	uint32_t i = replay_row__find(r, record->tid);
	struct replay_row *t = i != REPLAY_NONE ? replay__row(r, i) : NULL;
	uint64_t calls = (uint64_t)record->site << 32 | record->other;
	struct qz_transfers more = {0};

	if (!t) {
		r->counts.strange++;
		return;
	}
	if (record->state & QZ_LOG_WRITTEN) {
		more.writes = grow(&t->told.writes, calls);
		more.bytes_written = grow(&t->told.bytes_written, record->object);
	} else {
		more.reads = grow(&t->told.reads, calls);
		more.bytes_read = grow(&t->told.bytes_read, record->object);
	}
	if (record->state & QZ_LOG_BEFORE)
		return;
	qz_transfers__add(&t->pub.transfers, &more);
	if (t->pub.scope != REPLAY_NONE)
		qz_transfers__add(&replay__parallelism(r, t->pub.scope)->pub.transfers, &more);
}

static void replay__apply_name(struct replay *r, const struct qz_log_record *record)
{
	uint32_t i = replay_row__find(r, record->tid);

	if (i == REPLAY_NONE) {
		r->counts.strange++;
		return;
	}
	memcpy(replay__row(r, i)->pub.comm, record->comm, QZ_LOG_COMM - 1);
	replay__row(r, i)->exits |= record->kind == QZ_LOG_EXIT;
	if (r->steps && record->kind == QZ_LOG_EXIT)
		replay_steps__exit(r, replay__row(r, i));
}

int replay__apply_life(struct replay *r, const struct qz_log_record *record)
{
	if (record->kind == QZ_LOG_SETTLED)
		return replay__settle(r);
	if (!record->tid) {
		r->counts.impossible++;
		return 0;
	}
	switch (record->kind) {
	case QZ_LOG_FORK:
		return replay__apply_fork(r, record);
	case QZ_LOG_FOUND:
		return replay__apply_found(r, record);
	case QZ_LOG_EXEC:
		replay__apply_exec(r, record);
		return 0;
	case QZ_LOG_IDENTITY:
		return replay__apply_identity(r, record);
	case QZ_LOG_NUMBERS:
		replay__apply_numbers(r, record);
		return 0;
	case QZ_LOG_TRANSFERS:
		replay__apply_transfers(r, record);
		return 0;
	case QZ_LOG_UNIT:
		replay__apply_unit(r, record->tid, record->object);
		return 0;
	}
	replay__apply_name(r, record);
	return 0;
}

/* ---- for the user ---- */

const struct replay_thread *replay__thread(const struct replay *r, uint32_t tid)
{
	uint32_t i = replay_row__find(r, tid);

	if (i == REPLAY_NONE)
		return NULL;
	replay_row__charge(r, replay__row(r, i));
	return &replay__row(r, i)->pub;
}

void replay__each_thread(const struct replay *r,
			 void (*call)(void *context, const struct replay_thread *t), void *context)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct replay_row *t = replay__row(r, i);

		if (!t->lives)
			continue;
		replay_row__charge(r, t);
		replay_row__tell_image(r, t);
		call(context, &t->pub);
	}
	replay__each_ended(r, call, context);
}

void replay__each_ended(const struct replay *r,
			void (*call)(void *context, const struct replay_thread *t), void *context)
{
	for (uint32_t i = r->ended_threads; i != REPLAY_NONE; i = replay__row(r, i)->next)
		call(context, &replay__row(r, i)->pub);
}

void replay__drop_ended(struct replay *r)
{
	uint32_t next;

	for (uint32_t i = r->ended_threads; i != REPLAY_NONE; i = next) {
		next = replay__row(r, i)->next;
		replay__row(r, i)->next = r->free_threads;
		r->free_threads = i;
	}
	r->ended_threads = REPLAY_NONE;
}
