/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads: how they begin and end, who they are, and the time in each state. */
#include <errno.h>
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

static bool is_runnable(enum replay_state state)
{
	return state == REPLAY_RUNNING || state == REPLAY_READY;
}

void replay_row__enter(struct replay *r, struct replay_row *t, enum replay_state state)
{
	int running = (state == REPLAY_RUNNING) - (t->pub.state == REPLAY_RUNNING);
	int runnable = is_runnable(state) - is_runnable(t->pub.state);

	replay_row__charge(r, t);
	t->pub.state = state;
	if (!running && !runnable)
		return;
	replay_parallelism__change(r->machine, running, runnable, r->now);
	if (t->pub.scope != REPLAY_NONE)
		replay_parallelism__change(replay__parallelism(r, t->pub.scope), running, runnable,
					   r->now);
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
		.process_row = REPLAY_NONE,
		.stay.object = REPLAY_NONE,
		.last_place = REPLAY_NONE,
		.held = REPLAY_NONE,
		.next = REPLAY_NONE,
	};
	qz_hash_table__insert(&r->threads.index, replay_row__hash(tid), i);
	if (process != REPLAY_NONE)
		replay_process__join(r, process, t);
	return t;
}

void replay_row__end(struct replay *r, struct replay_row *t)
{
	uint32_t i = replay_row__number(r, t);

	replay_cpu__take_away(r, t);
	if (replay_row__waits(t))
		replay_stay__end(r, t);
	replay_queue__release_all(r, t);
	replay_row__enter(r, t, REPLAY_UNKNOWN);
	replay_process__leave(r, t);
	qz_hash_table__remove(&r->threads.index, replay_row__hash(t->pub.tid), i);
	t->lives = false;
	t->pub.ended = true;
	t->next = r->ended_threads;
	r->ended_threads = i;
}

void replay_row__end_unseen(struct replay *r, struct replay_row *t)
{
	r->counts.unended++;
	replay_row__end(r, t);
}

/* Its wait under way becomes two, of which the second one is of the new row. */
void replay_row__adopt(struct replay *r, struct replay_row *t, uint32_t process)
{
	struct replay_row *n = replay_row__begin(r, t->pub.tid, process), old;

	old = *t;
	memcpy(n->pub.comm, old.pub.comm, sizeof(n->pub.comm));
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

/* Whether a row is that of a thread which was met just before the record that tells of it. */
static bool replay_row__is_early(const struct replay *r, const struct replay_row *t)
{
	return t->unborn && r->now - t->pub.began <= REPLAY_NEAR_NS;
}

/* The first thread of a process comes: those of another one that had its number have ended. */
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
		replay_row__end_unseen(r, replay__row(r, i));
	}
	return 0;
}

static int replay__apply_fork(struct replay *r, const struct qz_log_record *record)
{
	uint32_t there = replay_row__find(r, record->tid), creator;
	bool early = there != REPLAY_NONE && replay_row__is_early(r, replay__row(r, there));
	struct replay_row *t;
	int64_t process;

	if (there != REPLAY_NONE && !early)
		replay_row__end_unseen(r, replay__row(r, there));
	if (record->tid == record->site && replay__end_former(r, record->site))
		return -ENOMEM;
	creator = replay_row__find(r, record->other);
	process = replay_process__get(r, record->site, creator);
	if (process < 0)
		return (int)process;
	if (early) {
		replay_row__adopt(r, replay__row(r, there), (uint32_t)process);
		return 0;
	}
	t = replay_row__begin(r, record->tid, (uint32_t)process);
	if (creator != REPLAY_NONE)
		memcpy(t->pub.comm, replay__row(r, creator)->pub.comm, sizeof(t->pub.comm));
	/* the tracepoint of wake-ups is not that of first ones, which come with it */
	replay_stay__begin(r, t, QZ_WAIT_START, NULL);
	replay_row__enter(r, t, REPLAY_READY);
	if (!r->options.every_process)
		replay_cpu__recognize(r, t);
	return 0;
}

static int replay__apply_found(struct replay *r, const struct qz_log_record *record)
{
	uint32_t there = replay_row__find(r, record->tid);
	struct replay_row *t = there != REPLAY_NONE ? replay__row(r, there) : NULL;
	bool is_new = !t || (!t->unborn && t->pub.process != record->other);
	int64_t process;

	if (t && !t->unborn && !is_new)
		return 0; /* its FORK was seen */
	process = replay_process__get(r, record->other, REPLAY_NONE);
	if (process < 0)
		return (int)process;
	if (!is_new) {
		replay_row__adopt(r, t, (uint32_t)process);
	} else {
		replay_row__begin(r, record->tid, (uint32_t)process);
		if (t)
			replay_row__end_unseen(r, t);
	}
	t = replay__row(r, replay_row__find(r, record->tid));
	if (is_new && !r->options.every_process)
		replay_cpu__recognize(r, t);
	t->account_base = record->object;
	if (t->pub.state == REPLAY_UNKNOWN && record->state == QZ_LOG_FOUND_BLOCKED) {
		replay_stay__begin(r, t, record->cause, NULL);
		replay_row__enter(r, t, REPLAY_BLOCKED);
	}
	return 0;
}

/* The thread has the number of the process from now on, whatever it had; who had that has ended before. */
static void replay__apply_exec(struct replay *r, const struct qz_log_record *record)
{
	uint32_t old = record->other ?: record->tid, i = replay_row__find(r, old), leader;
	struct replay_row *t = i != REPLAY_NONE ? replay__row(r, i) : NULL;

	if (!t) {
		r->counts.strange++;
		return;
	}
	if (t->process_row != REPLAY_NONE)
		replay__process(r, t->process_row)->space = ++r->last_space;
	leader = replay_row__find(r, record->tid);
	if (leader == i)
		return;
	if (leader != REPLAY_NONE)
		replay_row__end_unseen(r, replay__row(r, leader));
	qz_hash_table__remove(&r->threads.index, replay_row__hash(old), i);
	t->pub.tid = record->tid;
	qz_hash_table__insert(&r->threads.index, replay_row__hash(record->tid), i);
	if (t->pub.state == REPLAY_RUNNING)
		r->cpus[t->cpu].tid = record->tid;
}

static void replay__apply_name(struct replay *r, const struct qz_log_record *record)
{
	uint32_t i = replay_row__find(r, record->tid);

	if (i == REPLAY_NONE) {
		r->counts.strange++;
		return;
	}
	memcpy(replay__row(r, i)->pub.comm, record->comm, QZ_LOG_COMM - 1);
}

int replay__apply_life(struct replay *r, const struct qz_log_record *record)
{
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
		call(context, &t->pub);
	}
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
