// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "core/util/bits.h"
#include "core/util/vec.h"
#include "daemon/waits/objects.h"
#include "daemon/waits/wait_stacks.h"
#include "daemon/waits/wait_drain.h"

#define IDLE_DRAINS 2 /* after so many without anything new a slot is freed */

/* Waits as they were taken out, not yet part of the profile. */
struct row {
	uint32_t scope; /* number in BPF */
	uint32_t serial, stack, object, nominal;
	uint64_t count, blocked_ns, ready_ns, variance;
};

/* What is kept of a slot of the table between two drains. */
struct slot {
	uint32_t object; /* the slot's, when it is retired */
	uint8_t idle;
	bool retired;
};

/* What the kernel side counts of scopes; woken_counted is less what was lost of it. */
struct figures {
	uint64_t lost, woken_counted, wakings_lost;
};

struct wait_drain {
	struct bpf_runtime *bpf;
	struct threads *threads;
	const struct stack_context *context;
	struct qz_profile *profile;
	struct wait_stacks *stacks;
	struct objects *objects;
	struct slot *slots;
	struct row *rows;
	uint32_t nrows;
	struct figures counted; /* of all scopes, by the last refresh */
	struct figures retired; /* of those of them that have ended for good */
	uint64_t woken_ns;	/* taken out of the table and added, ever */
	uint64_t dropped;	/* for want of memory here */
	uint32_t *used;		/* by scope in BPF: the last drain at which it had a slot */
	uint32_t drains;
	uint32_t nwakings; /* slots that have wake-ups, by the last drain */
	bool aging;	   /* this one frees what is not used any more */
	uint64_t unopened; /* waits that have not ended and cannot be placed, by the last refresh */
};

struct wait_drain *wait_drain__new(struct bpf_runtime *bpf, struct threads *threads,
				   const struct stack_context *context,
				   struct object_naming_context *names)
{
	struct wait_drain *w = calloc(1, sizeof(*w));
	uint32_t scopes = bpf_runtime__max_scopes(bpf);

	if (!w)
		return NULL;
	w->bpf = bpf;
	w->threads = threads;
	w->context = context;
	w->profile = context->profile;
	w->stacks = wait_stacks__new(bpf, context);
	w->objects = w->stacks ? objects__new(bpf, threads, context, w->stacks, names) : NULL;
	w->slots = calloc(bpf_runtime__waits(bpf)->nslots, sizeof(*w->slots));
	w->used = calloc(scopes, sizeof(*w->used));
	if (!w->objects || !w->slots || !w->used) {
		wait_drain__free(w);
		return NULL;
	}
	return w;
}

void wait_drain__free(struct wait_drain *w)
{
	if (!w)
		return;
	objects__free(w->objects);
	wait_stacks__free(w->stacks);
	free(w->slots);
	free(w->used);
	free(w->rows);
	free(w);
}

/* ---- taking out ---- */

static void add_row(struct wait_drain *w, const struct row *row)
{
	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	if (qz_array__reserve((void **)&w->rows, w->nrows, sizeof(*w->rows)))
		w->dropped += row->count;
	else
		w->rows[w->nrows++] = *row;
}

/* The first step retires a slot, the second one frees it. */
static void age(struct wait_drain *w, uint32_t i)
{
	const struct bpf_runtime_waits *waits = bpf_runtime__waits(w->bpf);
	struct qz_wait_slot *table = &waits->slots[i];
	struct slot *slot = &w->slots[i];

	if (slot->idle++ < IDLE_DRAINS)
		return;
	if (!slot->retired) {
		slot->object = table->object;
		slot->retired = true;
		slot->idle = IDLE_DRAINS - 1;
		__atomic_store_n(&table->object, QZ_WAIT_RETIRED, __ATOMIC_SEQ_CST);
		return;
	}
	*slot = (struct slot) {0};
	qz_bits__clear(waits->used_slots, i);
	__atomic_store_n(&table->key, 0, __ATOMIC_SEQ_CST);
}

static void drain_slot(struct wait_drain *w, uint32_t i)
{
	struct qz_wait_slot *table = &bpf_runtime__waits(w->bpf)->slots[i];
	struct slot *slot = &w->slots[i];
	uint64_t key = table->key;
	struct row row;

	if (table->scope < bpf_runtime__max_scopes(w->bpf))
		w->used[table->scope] = w->drains;
	row = (struct row) {
		.scope = table->scope,
		.serial = QZ_WAIT_SERIAL(key),
		.stack = QZ_WAIT_STACK(key),
		.object = slot->retired ? slot->object : table->object,
		.nominal = QZ_WAIT_NOMINAL(key),
		.count = bpf_runtime__take(&table->count),
		.blocked_ns = bpf_runtime__take(&table->blocked_ns),
		.ready_ns = bpf_runtime__take(&table->ready_ns),
		.variance = bpf_runtime__take(&table->variance),
	};
	add_row(w, &row);
	if (row.nominal == QZ_WAKING)
		w->nwakings++;
	if (row.count || row.blocked_ns || row.ready_ns)
		slot->idle = 0;
	else if (w->aging)
		age(w, i);
}

void wait_drain__take(struct wait_drain *w, bool aging)
{
	const struct bpf_runtime_waits *waits = bpf_runtime__waits(w->bpf);

	w->drains++;
	w->aging = aging;
	w->nwakings = 0;
	qz_bits__for_each(i, waits->used_slots, waits->nslots)
		drain_slot(w, i);
	bpf_runtime__control(w->bpf)->waking_rows = w->nwakings;
	/* in this order: what names another was written after it */
	objects__drain(w->objects, aging);
	wait_stacks__drain(w->stacks, aging);
}

/* ---- adding ---- */

/* False when its owner is unknown. */
static bool make_wait(struct wait_drain *w, const struct row *row, struct qz_wait *wait)
{
	uint32_t scope = stack_context__scope(w->context, row->scope);
	struct thread *thread = threads__get(w->threads, row->serial);
	int64_t node, cause;

	if (scope == QZ_NONE || !thread)
		return false;
	node = wait_stacks__node(w->stacks, row->stack, thread);
	cause = wait_stacks__cause(w->stacks, row->stack);
	if (node < 0 || cause < 0)
		return false;
	*wait = (struct qz_wait) {
		.scope = scope,
		.thread = threads__row(w->threads, thread, scope, w->profile->scopes[scope].pid),
		.node = node,
		.cause = cause,
		.object = objects__index(w->objects, row->object),
		.nominal = row->nominal,
		.count = row->count,
		.blocked_ns = row->blocked_ns,
		.ready_ns = row->ready_ns,
		.variance = row->variance,
	};
	return true;
}

/* As make_wait; of wake-ups nobody that is known made, the thread is QZ_NONE and the node 0. */
static bool add_waking(struct wait_drain *w, const struct row *row)
{
	uint32_t scope = stack_context__scope(w->context, row->scope);
	struct thread *thread = row->serial ? threads__get(w->threads, row->serial) : NULL;
	struct qz_waking waking = {
		.scope = scope,
		.thread = QZ_NONE,
		.object = objects__index(w->objects, row->object),
		.count = row->count,
		.woken_ns = row->blocked_ns,
	};
	int64_t node = 0;

	if (scope == QZ_NONE)
		return false;
	if (thread) {
		node = wait_stacks__node(w->stacks, row->stack, thread);
		waking.thread =
			threads__row(w->threads, thread, scope, w->profile->scopes[scope].pid);
	}
	if (node < 0)
		return false;
	waking.node = node;
	if (qz_waits__add_waking(w->profile, &waking))
		return false;
	w->woken_ns += waking.woken_ns;
	return true;
}

static bool add_drained(struct wait_drain *w, const struct row *row)
{
	struct qz_wait wait;

	if (row->nominal == QZ_WAKING)
		return add_waking(w, row);
	return make_wait(w, row, &wait) && !qz_waits__add(w->profile, &wait);
}

void wait_drain__want(struct wait_drain *w)
{
	wait_stacks__want(w->stacks);
}

void wait_drain__add(struct wait_drain *w)
{
	wait_stacks__place(w->stacks);
	for (uint32_t i = 0; i < w->nrows; i++)
		objects__want(w->objects, w->rows[i].object, 0);
	objects__name(w->objects);
	for (uint32_t i = 0; i < w->nrows; i++)
		if (!add_drained(w, &w->rows[i]))
			w->dropped += w->rows[i].count;
	free(w->rows);
	w->rows = NULL;
	w->nrows = 0;
}

/* ---- threads ---- */

typedef void take_row(struct wait_drain *w, const struct row *row);

static void take_waits(struct wait_drain *w, const struct qz_thread_event *e, take_row *call)
{
	uint32_t n =
		(e->event.length - offsetof(struct qz_thread_event, waits)) / sizeof(e->waits[0]);

	for (uint32_t i = 0; i < n && i < QZ_THREAD_WAITS; i++) {
		const struct qz_thread_wait *wait = &e->waits[i];
		struct row row = {
			.scope = e->scope,
			.serial = e->serial,
			.stack = wait->stack,
			.object = wait->object,
			.nominal = wait->nominal,
			.count = wait->count,
			.blocked_ns = wait->blocked_ns,
			.ready_ns = wait->ready_ns,
		};

		call(w, &row);
	}
}

void wait_drain__ended(struct wait_drain *w, const struct qz_thread_event *event)
{
	take_waits(w, event, add_row);
}

static void add_open(struct wait_drain *w, const struct qz_wait *wait)
{
	if (qz_waits__open(w->profile, wait))
		w->unopened += wait->count;
}

static void open_row(struct wait_drain *w, const struct row *row)
{
	struct qz_wait wait;

	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	if (make_wait(w, row, &wait))
		add_open(w, &wait);
	else
		w->unopened += row->count; /* of a thread that has not been reported yet */
}

/* The wait that it is in goes on up to `until`. */
void wait_drain__alive(struct wait_drain *w, const struct qz_thread_event *event,
		       uint64_t scope_began, uint64_t until)
{
	struct qz_thread_event e = *event;
	uint32_t state = e.gone ? QZ_UNKNOWN : e.state & 3;
	struct qz_thread_wait *open = &e.waits[0];

	if (until > e.since)
		e.ns[state] += until - e.since;
	open->blocked_ns += e.ns[QZ_BLOCKED] - thread__before(&e, scope_began);
	open->blocked_ns -= event->ns[QZ_BLOCKED] - thread__before(event, scope_began);
	open->ready_ns += e.ns[QZ_READY] - event->ns[QZ_READY];
	open->count = open->blocked_ns || open->ready_ns;
	take_waits(w, &e, open_row);
}

void wait_drain__begin_refresh(struct wait_drain *w)
{
	qz_waits__close_all(w->profile);
	w->unopened = 0;
	w->counted = w->retired;
	objects__want_waited(w->objects);
	objects__name(w->objects);
}

struct objects *wait_drain__objects(const struct wait_drain *w)
{
	return w->objects;
}

/* False: there is nothing. */
static bool make_lost(struct wait_drain *w, uint32_t scope, const struct qz_scope_state *state,
		      struct qz_wait *wait)
{
	int64_t cause = wait_stacks__cause(w->stacks, QZ_WAIT_UNKNOWN);

	*wait = (struct qz_wait) {
		.scope = stack_context__scope(w->context, scope),
		.thread = QZ_NONE,
		.object = QZ_NONE,
		.cause = cause,
		.count = state->waits_lost,
		.blocked_ns = state->lost_blocked_ns,
		.ready_ns = state->lost_ready_ns,
	};
	return cause >= 0 && (wait->count || wait->blocked_ns || wait->ready_ns);
}

static void add_figures(struct figures *f, const struct qz_scope_state *state)
{
	f->lost += state->waits_lost;
	f->wakings_lost += state->wakings_lost;
	f->woken_counted += state->woken_ns - state->woken_lost_ns;
}

void wait_drain__lost(struct wait_drain *w, uint32_t scope, const struct qz_scope_state *state)
{
	struct qz_wait wait;

	add_figures(&w->counted, state);
	if (make_lost(w, scope, state, &wait))
		add_open(w, &wait);
}

bool wait_drain__use_scope(const struct wait_drain *w, uint32_t scope)
{
	return w->used[scope] == w->drains || objects__use_scope(w->objects, scope);
}

void wait_drain__retire_scope(struct wait_drain *w, uint32_t scope,
			      const struct qz_scope_state *state)
{
	struct qz_wait wait;

	add_figures(&w->retired, state);
	if (make_lost(w, scope, state, &wait) && qz_waits__add(w->profile, &wait))
		w->dropped += wait.count;
}

void wait_drain__forget(struct wait_drain *w, const bool *marked)
{
	wait_stacks__forget(w->stacks, marked);
}

uint64_t wait_drain__wakings_lost(const struct wait_drain *w)
{
	return w->counted.wakings_lost;
}

uint64_t wait_drain__woken_unaccounted(const struct wait_drain *w)
{
	uint64_t counted = w->counted.woken_counted;

	return counted > w->woken_ns ? counted - w->woken_ns : w->woken_ns - counted;
}

uint64_t wait_drain__count_lost(const struct wait_drain *w)
{
	return w->counted.lost + w->dropped + w->unopened;
}
