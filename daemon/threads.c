// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/table.h"
#include "daemon/images.h"
#include "daemon/threads.h"

/* What a thread's last waits left in the tables is drained after so many drains. */
#define FORGET_DRAINS 8

/* Sums of the ended threads of a row, to start each refresh from. */
struct sums {
	uint64_t cpu, running, ready, blocked, unknown, start, end;
};

struct threads {
	struct qz_profile *profile;
	struct thread *items;
	uint32_t n;
	struct sums *ended; /* one per row of the profile */
	uint32_t nrows;
	struct qz_table by_serial, merged;
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
	free(t->ended);
	qz_table__free(&t->by_serial);
	qz_table__free(&t->merged);
	free(t);
}

static bool same_serial(const void *context, uint32_t index, const void *key)
{
	const struct threads *t = context;

	return t->items[index].serial == *(const uint32_t *)key;
}

struct thread *threads__get(struct threads *t, uint32_t serial)
{
	uint32_t hash = qz_hash__number(1, serial), index;

	index = qz_table__find(&t->by_serial, hash, same_serial, t, &serial);
	if (index != UINT32_MAX)
		return &t->items[index];
	if (qz_array__reserve((void **)&t->items, t->n, sizeof(*t->items)) ||
	    qz_table__reserve(&t->by_serial))
		return NULL;
	t->items[t->n] = (struct thread) {.serial = serial, .row = QZ_NONE, .outermost = QZ_NONE};
	qz_table__insert(&t->by_serial, hash, t->n);
	return &t->items[t->n++];
}

/* ---- rows ---- */

struct merged_key {
	uint32_t scope;
	const char *comm;
};

static bool same_merged(const void *context, uint32_t index, const void *key)
{
	const struct threads *t = context;
	const struct merged_key *k = key;
	const struct qz_thread *row = &t->profile->threads[index];

	return row->scope == k->scope && !strcmp(row->comm, k->comm);
}

static uint32_t add_row(struct threads *t, const struct qz_thread *row)
{
	int64_t index;

	if (qz_array__reserve((void **)&t->ended, t->nrows, sizeof(*t->ended)))
		return QZ_NONE;
	index = qz_profile__add_thread(t->profile, row);
	if (index < 0)
		return QZ_NONE;
	memset(&t->ended[index], 0, sizeof(*t->ended));
	t->nrows = index + 1;
	return index;
}

/* The row that stands for all threads of a name beyond the limit. */
static uint32_t merged_row(struct threads *t, uint32_t scope, int pid, const char *comm)
{
	struct qz_thread row = {.scope = scope, .pid = pid, .comm = (char *)comm, .merged = true};
	struct merged_key key = {scope, comm};
	uint32_t hash = qz_hash__string(qz_hash__number(1, scope), comm), index;

	index = qz_table__find(&t->merged, hash, same_merged, t, &key);
	if (index != UINT32_MAX)
		return index;
	if (qz_table__reserve(&t->merged))
		return QZ_NONE;
	index = add_row(t, &row);
	if (index != QZ_NONE)
		qz_table__insert(&t->merged, hash, index);
	return index;
}

uint32_t threads__merged_row(struct threads *t, uint32_t scope, const char *comm)
{
	return merged_row(t, scope, 0, comm);
}

uint32_t threads__row(struct threads *t, struct thread *thread, uint32_t scope, int pid)
{
	struct qz_thread row = {.scope = scope, .pid = pid, .comm = (char *)""};

	if (thread->row != QZ_NONE)
		return thread->row;
	if (t->nrows >= THREAD_ROWS)
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

uint64_t thread__before(const struct qz_thread_event *e, uint64_t began)
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
	if (thread->row == QZ_NONE && t->nrows >= THREAD_ROWS)
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

static void add_figures(struct qz_thread *row, const struct qz_thread_event *e, uint64_t began,
			uint64_t cpu)
{
	uint64_t start = e->seen > began ? e->seen : began;

	if (!row->start_ns || start < row->start_ns)
		row->start_ns = start;
	if (e->since > row->end_ns)
		row->end_ns = e->since;
	row->cpu_ns += cpu;
	row->running_ns += e->ns[QZ_RUNNING];
	row->ready_ns += e->ns[QZ_READY];
	row->blocked_ns += e->ns[QZ_BLOCKED] - thread__before(e, began);
	row->unknown_ns += e->ns[QZ_UNKNOWN];
}

int threads__ended(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began)
{
	struct qz_thread *row = describe(t, scope, event);
	struct sums *s;

	if (!row)
		return -ENOMEM;
	add_figures(row, event, scope_began, event->cpu);
	row->ended = true;
	threads__get(t, event->serial)->ended = t->drains + 1;
	s = &t->ended[row - t->profile->threads];
	s->cpu += event->cpu;
	s->running += event->ns[QZ_RUNNING];
	s->ready += event->ns[QZ_READY];
	s->blocked += event->ns[QZ_BLOCKED] - thread__before(event, scope_began);
	s->unknown += event->ns[QZ_UNKNOWN];
	s->start = row->start_ns;
	s->end = row->end_ns;
	return 0;
}

/* Charges the state that has not ended up to `until`. */
int threads__alive(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began, uint64_t until, struct living *sum)
{
	struct qz_thread *row = describe(t, scope, event);
	struct qz_thread_event e = *event;
	uint32_t state = e.gone ? QZ_UNKNOWN : e.state & 3;
	uint64_t rest = until > e.since ? until - e.since : 0;
	uint64_t cpu = e.cpu;

	if (!row)
		return -ENOMEM;
	/* the kernel brings the processor time of a running thread up to date at its ticks only */
	if (state == QZ_RUNNING)
		cpu += rest;
	e.ns[state] += rest;
	e.since += rest;
	add_figures(row, &e, scope_began, cpu);
	row->ended = false;
	sum->cpu_ns += cpu;
	sum->runnable_ns += e.ns[QZ_RUNNING] + e.ns[QZ_READY];
	return 0;
}

void threads__begin_refresh(struct threads *t)
{
	for (uint32_t i = 0; i < t->nrows; i++) {
		struct qz_thread *row = &t->profile->threads[i];
		const struct sums *s = &t->ended[i];

		row->cpu_ns = s->cpu;
		row->running_ns = s->running;
		row->ready_ns = s->ready;
		row->blocked_ns = s->blocked;
		row->unknown_ns = s->unknown;
		row->start_ns = s->start;
		row->end_ns = s->end;
	}
}

/* ---- forgetting ---- */

static bool is_over(const struct threads *t, const struct thread *thread)
{
	return thread->ended && t->drains - thread->ended >= FORGET_DRAINS && !thread->kept;
}

void threads__forget(struct threads *t)
{
	uint32_t kept = 0;

	if (++t->drains % FORGET_DRAINS)
		return;
	qz_table__clear(&t->by_serial);
	for (uint32_t i = 0; i < t->n; i++) {
		if (is_over(t, &t->items[i]))
			continue;
		t->items[kept] = t->items[i];
		qz_table__insert(&t->by_serial, qz_hash__number(1, t->items[kept].serial), kept);
		kept++;
	}
	t->n = qz_array__shrink((void **)&t->items, t->n, kept, sizeof(*t->items));
}

static void add_sums(struct sums *to, const struct sums *from)
{
	to->cpu += from->cpu;
	to->running += from->running;
	to->ready += from->ready;
	to->blocked += from->blocked;
	to->unknown += from->unknown;
	if (!to->start || (from->start && from->start < to->start))
		to->start = from->start;
	if (from->end > to->end)
		to->end = from->end;
}

/* The table of rows that stand for several, anew. */
static int find_merged(struct threads *t)
{
	qz_table__clear(&t->merged);
	for (uint32_t i = 0; i < t->profile->nthreads; i++) {
		const struct qz_thread *row = &t->profile->threads[i];
		uint32_t hash = qz_hash__string(qz_hash__number(1, row->scope), row->comm);

		if (!row->merged)
			continue;
		if (qz_table__reserve(&t->merged))
			return -ENOMEM;
		qz_table__insert(&t->merged, hash, i);
	}
	return 0;
}

int threads__folded(struct threads *t, const struct qz_maps *maps)
{
	struct sums *ended = NULL;
	uint32_t n = 0;

	while (n < t->profile->nthreads) {
		if (qz_array__reserve((void **)&ended, n, sizeof(*ended))) {
			free(ended);
			return -ENOMEM;
		}
		ended[n++] = (struct sums) {0};
	}
	for (uint32_t i = 0; i < t->nrows; i++)
		add_sums(&ended[maps->threads[i]], &t->ended[i]);
	free(t->ended);
	t->ended = ended;
	t->nrows = n;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->items[i].row != QZ_NONE)
			t->items[i].row = maps->threads[t->items[i].row];
	return find_merged(t);
}
