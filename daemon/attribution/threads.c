// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/transform/merge.h"
#include "core/util/vec.h"
#include "core/util/hash_table.h"
#include "daemon/target/address_spaces.h"
#include "daemon/attribution/threads.h"

/* The last waits of an ended thread are drained from the tables by this many drains. */
#define FORGET_DRAINS 8

struct threads {
	struct qz_profile *profile;
	struct thread *items;
	uint32_t n;
	struct qz_hash_table by_serial, merged;
	uint32_t drains;
};

struct threads *threads__new(struct qz_profile *profile)
{
	struct threads *t = calloc(1, sizeof(*t));

	if (t)
		t->profile = profile;
	return t;
}

void threads__free(struct threads *t)
{
	if (!t)
		return;
	free(t->items);
	qz_hash_table__free(&t->by_serial);
	qz_hash_table__free(&t->merged);
	free(t);
}

struct thread *threads__get(struct threads *t, uint32_t serial)
{
	const struct thread new = {.serial = serial, .row = QZ_NONE, .outermost = QZ_NONE};
	int64_t i = QZ_INTERN(&t->by_serial, &t->items, &t->n, &new, serial);

	return i < 0 ? NULL : &t->items[i];
}

/* ---- rows ---- */

struct merged_key {
	uint32_t scope;
	const char *comm;
};

static uint32_t hash_merged(uint32_t scope, const char *comm)
{
	return qz_hash_table__hash_string(qz_hash_table__hash_number(1, scope), comm);
}

static bool same_merged(const void *context, uint32_t index, const void *key)
{
	const struct threads *t = context;
	const struct merged_key *k = key;
	const struct qz_thread *row = &t->profile->threads[index];

	return row->scope == k->scope && !strcmp(row->comm, k->comm);
}

static uint32_t add_row(struct threads *t, const struct qz_thread *row)
{
	int64_t index = qz_profile__add_thread(t->profile, row);

	return index < 0 ? QZ_NONE : (uint32_t)index;
}

static bool is_full(const struct threads *t)
{
	return t->profile->nthreads - t->profile->vacant_threads >= THREAD_ROWS;
}

/* The row for all threads of a name beyond the limit. */
static uint32_t merged_row(struct threads *t, uint32_t scope, int pid, const char *comm)
{
	struct qz_thread row = {.scope = scope, .pid = pid, .comm = (char *)comm, .merged = true};
	struct merged_key key = {scope, comm};
	uint32_t hash = hash_merged(scope, comm), index;

	index = qz_hash_table__find(&t->merged, hash, same_merged, t, &key);
	if (index != UINT32_MAX)
		return index;
	if (qz_hash_table__reserve(&t->merged))
		return QZ_NONE;
	index = add_row(t, &row);
	if (index != QZ_NONE)
		qz_hash_table__insert(&t->merged, hash, index);
	return index;
}

uint32_t threads__merged_row(struct threads *t, uint32_t scope, const char *comm)
{
	return merged_row(t, scope, 0, comm);
}

static bool has_row_in(const struct threads *t, const struct thread *thread, uint32_t scope)
{
	return thread->row != QZ_NONE && t->profile->threads[thread->row].scope == scope;
}

uint32_t threads__row(struct threads *t, struct thread *thread, uint32_t scope, int pid)
{
	struct qz_thread row = {.scope = scope, .pid = pid, .comm = (char *)""};

	if (thread->row != QZ_NONE)
		return has_row_in(t, thread, scope) ? thread->row : QZ_NONE;
	if (qz_scope__is_group(&t->profile->scopes[scope]))
		thread->row = merged_row(t, scope, 0, t->profile->scopes[scope].comm);
	else if (is_full(t))
		thread->row = merged_row(t, scope, pid, "");
	else
		thread->row = add_row(t, &row);
	return thread->row;
}

uint32_t thread__node(struct thread *thread, const struct image *image)
{
	if (!thread->placed && image) {
		thread->node = image->node;
		thread->placed = true;
	}
	return thread->node;
}

/* ---- figures ---- */

/* The part of a thread's blocked time from before its scope's clock began, which does not count. */
static uint64_t blocked_before(const struct qz_thread_event *e, uint64_t began)
{
	uint64_t excess = began > e->seen ? began - e->seen : 0;

	return excess < e->ns[QZ_BLOCKED] ? excess : e->ns[QZ_BLOCKED];
}

static struct qz_thread *describe(struct threads *t, uint32_t scope,
				  const struct qz_thread_event *e)
{
	struct thread *thread = threads__get(t, e->serial);
	char comm[QZ_COMM_LEN + 1] = "";
	struct qz_thread *row;

	if (!thread)
		return NULL;
	memcpy(comm, e->comm, QZ_COMM_LEN);
	if (!has_row_in(t, thread, scope)) /* the thread's own report says where it belongs */
		thread->row = QZ_NONE;
	if (thread->row == QZ_NONE && is_full(t))
		thread->row = merged_row(t, scope, e->tgid, comm);
	if (threads__row(t, thread, scope, e->tgid) == QZ_NONE)
		return NULL;
	row = &t->profile->threads[thread->row];
	if (!row->merged) {
		row->tid = e->tid;
		row->pid = e->tgid;
		qz_profile__set_string(&row->comm, comm);
	}
	return row;
}

static void add_loop(struct qz_loop *row, const struct qz_loop *now, const struct qz_loop *seen)
{
	row->turns += now->turns - seen->turns;
	row->turn_ns += now->turn_ns - seen->turn_ns;
	row->blocks += now->blocks - seen->blocks;
	row->block_ns += now->block_ns - seen->block_ns;
	row->block_waited_ns += now->block_waited_ns - seen->block_waited_ns;
	row->block_ready_ns += now->block_ready_ns - seen->block_ready_ns;
	if (now->longest_ns > row->longest_ns)
		row->longest_ns = now->longest_ns;
}

static void add_transfers(struct qz_transfers *row, const struct qz_transfers *now,
			  const struct qz_transfers *seen)
{
	row->reads += now->reads - seen->reads;
	row->bytes_read += now->bytes_read - seen->bytes_read;
	row->writes += now->writes - seen->writes;
	row->bytes_written += now->bytes_written - seen->bytes_written;
}

/* Adds what has come since the thread was last seen to its row. */
static void update(struct qz_thread *row, struct thread *thread, const struct qz_thread_event *e,
		   uint64_t began, uint64_t cpu)
{
	uint64_t start = e->seen > began ? e->seen : began;
	struct thread_times now = {
		.cpu = cpu,
		.running = e->ns[QZ_RUNNING],
		.ready = e->ns[QZ_READY],
		.blocked = e->ns[QZ_BLOCKED] - blocked_before(e, began),
		.unknown = e->ns[QZ_UNKNOWN],
		.loop = e->loop,
		.transfers = e->transfers,
	};

	if (!row->merged || !row->start_ns || start < row->start_ns)
		row->start_ns = start;
	if (e->since > row->end_ns)
		row->end_ns = e->since;
	row->cpu_ns += now.cpu - thread->seen.cpu;
	row->running_ns += now.running - thread->seen.running;
	row->ready_ns += now.ready - thread->seen.ready;
	row->blocked_ns += now.blocked - thread->seen.blocked;
	row->unknown_ns += now.unknown - thread->seen.unknown;
	add_loop(&row->loop, &now.loop, &thread->seen.loop);
	add_transfers(&row->transfers, &now.transfers, &thread->seen.transfers);
	thread->seen = now;
}

int threads__ended(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began)
{
	struct qz_thread *row = describe(t, scope, event);
	struct thread *thread = threads__get(t, event->serial);

	if (!row)
		return -ENOMEM;
	update(row, thread, event, scope_began, event->cpu);
	row->ended = true;
	thread->ended = t->drains + 1;
	return 0;
}

/* Counts the current state up to `until`. */
int threads__alive(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began, uint64_t until, struct living *sum)
{
	struct qz_thread *row = describe(t, scope, event);
	struct qz_thread_event e = *event;
	uint32_t state = e.state & 3;
	uint64_t rest = until > e.since ? until - e.since : 0;
	uint64_t cpu = e.cpu;

	if (!row)
		return -ENOMEM;
	/* the kernel updates the processor time of a running thread only at its ticks */
	if (state == QZ_RUNNING)
		cpu += rest;
	e.ns[state] += rest;
	e.since += rest;
	update(row, threads__get(t, e.serial), &e, scope_began, cpu);
	row->ended = false;
	sum->cpu_ns += cpu;
	sum->running_ns += e.ns[QZ_RUNNING];
	sum->runnable_ns += e.ns[QZ_RUNNING] + e.ns[QZ_READY];
	return 0;
}

void threads__join(struct threads *t, uint32_t serial, uint32_t row)
{
	struct thread *thread = threads__get(t, serial);

	if (!thread)
		return;
	thread->row = row;
	thread->placed = true;
	thread->ended = t->drains + 1;
}

/* ---- forgetting ---- */

static bool is_over(const struct threads *t, const struct thread *thread)
{
	if (thread->row != QZ_NONE && t->profile->threads[thread->row].vacant)
		return true;
	return thread->ended && t->drains - thread->ended >= FORGET_DRAINS && !thread->kept;
}

static void forget(struct threads *t)
{
	uint32_t kept = 0;

	qz_hash_table__clear(&t->by_serial);
	for (uint32_t i = 0; i < t->n; i++) {
		if (is_over(t, &t->items[i]))
			continue;
		t->items[kept] = t->items[i];
		qz_hash_table__insert(&t->by_serial, QZ_HASH(&t->items[kept], serial), kept);
		kept++;
	}
	t->n = qz_array__shrink((void **)&t->items, t->n, kept, sizeof(*t->items));
}

void threads__forget(struct threads *t)
{
	if (++t->drains % FORGET_DRAINS == 0)
		forget(t);
}

void threads__forget_vacant(struct threads *t)
{
	forget(t);
	qz_hash_table__clear(&t->merged);
	for (uint32_t i = 0; i < t->profile->nthreads; i++) {
		const struct qz_thread *row = &t->profile->threads[i];

		if (row->merged && !row->vacant)
			qz_hash_table__insert(&t->merged, hash_merged(row->scope, row->comm), i);
	}
}
