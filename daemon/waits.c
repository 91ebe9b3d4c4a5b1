// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "daemon/objects.h"
#include "daemon/wait_stacks.h"
#include "daemon/waits.h"

#define IDLE_HARVESTS 2 /* after so many without anything new a slot is freed */

/* Waits as they were taken out, not yet part of the profile. */
struct row {
	uint32_t scope; /* of the engine */
	uint32_t serial, stack, object, nominal;
	uint64_t count, blocked_ns, ready_ns;
};

/* What is kept of a slot of the table between two harvests. */
struct slot {
	uint32_t object; /* the slot's, when it is retired */
	uint8_t idle;
	bool retired;
};

/* What the kernel side counts of a scope. */
struct figures {
	uint64_t lost, woken_counted, wakings_lost;
};

struct waits {
	struct engine *engine;
	struct threads *threads;
	struct qz_profile *profile;
	struct wait_stacks *stacks;
	struct objects *objects;
	struct slot *slots;
	uint32_t *scopes; /* of the profile, by that of the engine; QZ_NONE: unknown */
	struct row *rows;
	uint32_t nrows;
	struct qz_wait *open; /* added by the last refresh */
	uint32_t nopen;
	uint64_t lost;		/* waits, by the last refresh */
	uint64_t woken_ns;	/* taken out of the table and added, ever */
	uint64_t woken_counted; /* by the kernel side, less what was lost, by the last refresh */
	uint64_t wakings_lost;	/* likewise */
	uint64_t dropped;	/* for want of memory here */
	struct figures retired; /* of scopes that have ended for good, as the four above */
	uint32_t *used; /* by scope of the engine: the last harvest at which it had a slot */
	uint32_t harvests;
	uint32_t nwakings; /* slots that have wake-ups, by the last harvest */
};

struct waits *waits__new(struct engine *engine, struct threads *threads,
			 const struct stack_context *context, struct objname_context *names)
{
	struct waits *w = calloc(1, sizeof(*w));
	uint32_t scopes = engine__max_scopes(engine);

	if (!w)
		return NULL;
	w->engine = engine;
	w->threads = threads;
	w->profile = context->profile;
	w->stacks = wait_stacks__new(engine, context);
	w->objects = w->stacks ? objects__new(engine, threads, context, w->stacks, names) : NULL;
	w->slots = calloc(engine__waits(engine)->nslots, sizeof(*w->slots));
	w->scopes = malloc(scopes * sizeof(*w->scopes));
	w->used = calloc(scopes, sizeof(*w->used));
	if (!w->objects || !w->slots || !w->scopes || !w->used) {
		waits__free(w);
		return NULL;
	}
	memset(w->scopes, 0xff, scopes * sizeof(*w->scopes));
	return w;
}

void waits__free(struct waits *w)
{
	if (!w)
		return;
	objects__free(w->objects);
	wait_stacks__free(w->stacks);
	free(w->slots);
	free(w->scopes);
	free(w->used);
	free(w->rows);
	free(w->open);
	free(w);
}

void waits__add_scope(struct waits *w, uint32_t scope, uint32_t index)
{
	w->scopes[scope] = index;
	objects__add_scope(w->objects, scope, index);
}

/* ---- taking out ---- */

static void add_row(struct waits *w, const struct row *row)
{
	struct row *more;

	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	more = qz_array__room(w->rows, w->nrows, sizeof(*more));
	if (!more) {
		w->dropped += row->count;
		return;
	}
	w->rows = more;
	w->rows[w->nrows++] = *row;
}

static uint64_t take(__u64 *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(figure, 0, __ATOMIC_SEQ_CST)
		       : 0;
}

/* The first step retires a slot, the second one frees it. */
static void age(struct qz_wait_slot *table, struct slot *slot)
{
	if (slot->idle++ < IDLE_HARVESTS)
		return;
	if (!slot->retired) {
		slot->object = table->object;
		slot->retired = true;
		slot->idle = IDLE_HARVESTS - 1;
		__atomic_store_n(&table->object, QZ_WAIT_RETIRED, __ATOMIC_SEQ_CST);
		return;
	}
	*slot = (struct slot) {0};
	__atomic_store_n(&table->key, 0, __ATOMIC_SEQ_CST);
}

static void harvest_slot(struct waits *w, struct qz_wait_slot *table, struct slot *slot)
{
	uint64_t key = __atomic_load_n(&table->key, __ATOMIC_SEQ_CST);
	struct row row;

	if (!key || (table->object == QZ_WAIT_RETIRED && !slot->retired))
		return; /* being taken */
	if (table->scope < engine__max_scopes(w->engine))
		w->used[table->scope] = w->harvests;
	row = (struct row) {
		.scope = table->scope,
		.serial = QZ_WAIT_SERIAL(key),
		.stack = QZ_WAIT_STACK(key),
		.object = slot->retired ? slot->object : table->object,
		.nominal = QZ_WAIT_NOMINAL(key),
		.count = take(&table->count),
		.blocked_ns = take(&table->blocked_ns),
		.ready_ns = take(&table->ready_ns),
	};
	add_row(w, &row);
	if (row.nominal == QZ_WAKING)
		w->nwakings++;
	if (row.count || row.blocked_ns || row.ready_ns)
		slot->idle = 0;
	else
		age(table, slot);
}

void waits__harvest(struct waits *w)
{
	const struct engine_waits *tables = engine__waits(w->engine);

	w->harvests++;
	w->nwakings = 0;
	for (uint32_t i = 0; i < tables->nslots; i++)
		harvest_slot(w, &tables->slots[i], &w->slots[i]);
	engine__control(w->engine)->waking_rows = w->nwakings;
	/* in this order: what names another was written after it */
	objects__harvest(w->objects);
	wait_stacks__harvest(w->stacks);
}

/* ---- adding ---- */

/* False when it cannot be told to whom it belongs. */
static bool make_wait(struct waits *w, const struct row *row, struct qz_wait *wait)
{
	uint32_t scopes = engine__max_scopes(w->engine);
	uint32_t scope = row->scope < scopes ? w->scopes[row->scope] : QZ_NONE;
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
		.object = objects__index(w->objects, row->object, 0),
		.nominal = row->nominal,
		.count = row->count,
		.blocked_ns = row->blocked_ns,
		.ready_ns = row->ready_ns,
	};
	return true;
}

/* As make_wait; of wake-ups nobody that is known made, the thread is QZ_NONE and the node 0. */
static bool add_waking(struct waits *w, const struct row *row)
{
	uint32_t scopes = engine__max_scopes(w->engine);
	uint32_t scope = row->scope < scopes ? w->scopes[row->scope] : QZ_NONE;
	struct thread *thread = row->serial ? threads__get(w->threads, row->serial) : NULL;
	struct qz_waking waking = {
		.scope = scope,
		.thread = QZ_NONE,
		.object = objects__index(w->objects, row->object, 0),
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
	if (qz_profile__add_waking(w->profile, &waking))
		return false;
	w->woken_ns += waking.woken_ns;
	return true;
}

static bool drain_row(struct waits *w, const struct row *row)
{
	struct qz_wait wait;

	if (row->nominal == QZ_WAKING)
		return add_waking(w, row);
	return make_wait(w, row, &wait) && !qz_profile__add_wait(w->profile, &wait);
}

void waits__want(struct waits *w)
{
	wait_stacks__want(w->stacks);
}

void waits__drain(struct waits *w)
{
	wait_stacks__place(w->stacks);
	objects__name(w->objects);
	for (uint32_t i = 0; i < w->nrows; i++)
		if (!drain_row(w, &w->rows[i]))
			w->dropped += w->rows[i].count;
	free(w->rows);
	w->rows = NULL;
	w->nrows = 0;
}

/* ---- threads ---- */

typedef void take_row(struct waits *w, const struct row *row);

static void take_waits(struct waits *w, const struct qz_thread_event *e, take_row *call)
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

void waits__ended(struct waits *w, const struct qz_thread_event *event)
{
	take_waits(w, event, add_row);
}

static void add_open(struct waits *w, const struct qz_wait *wait)
{
	struct qz_wait *more = qz_array__room(w->open, w->nopen, sizeof(*more));

	if (!more) {
		w->dropped += wait->count;
		return;
	}
	w->open = more;
	if (qz_profile__add_wait(w->profile, wait))
		w->dropped += wait->count;
	else
		w->open[w->nopen++] = *wait;
}

static void open_row(struct waits *w, const struct row *row)
{
	struct qz_wait wait;

	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	if (make_wait(w, row, &wait))
		add_open(w, &wait);
	else
		w->dropped += row->count;
}

/* The wait that it is in goes on up to `until`. */
void waits__alive(struct waits *w, const struct qz_thread_event *event, uint64_t scope_began,
		  uint64_t until)
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

void waits__begin_refresh(struct waits *w)
{
	for (uint32_t i = 0; i < w->nopen; i++) {
		struct qz_wait *wait = &w->open[i];

		wait->count = -wait->count;
		wait->blocked_ns = -wait->blocked_ns;
		wait->ready_ns = -wait->ready_ns;
		qz_profile__add_wait(w->profile, wait); /* the row is there: it cannot fail */
	}
	free(w->open);
	w->open = NULL;
	w->nopen = 0;
	w->lost = w->retired.lost;
	w->wakings_lost = w->retired.wakings_lost;
	w->woken_counted = w->retired.woken_counted;
}

uint32_t waits__object(struct waits *w, uint32_t number, uint32_t spinner)
{
	return objects__index(w->objects, number, spinner);
}

bool waits__has_object(const struct waits *w, uint32_t number)
{
	return objects__has_name(w->objects, number);
}

void waits__objects(struct waits *w, uint64_t until)
{
	objects__settle(w->objects, until);
}

/* False: there is nothing. */
static bool make_lost(struct waits *w, uint32_t scope, const struct qz_scope_state *state,
		      struct qz_wait *wait)
{
	int64_t cause = wait_stacks__cause(w->stacks, QZ_WAIT_UNKNOWN);

	*wait = (struct qz_wait) {
		.scope = w->scopes[scope],
		.thread = QZ_NONE,
		.object = QZ_NONE,
		.cause = cause,
		.count = state->waits_lost,
		.blocked_ns = state->lost_blocked_ns,
		.ready_ns = state->lost_ready_ns,
	};
	return cause >= 0 && (wait->count || wait->blocked_ns || wait->ready_ns);
}

void waits__lost(struct waits *w, uint32_t scope, const struct qz_scope_state *state)
{
	struct qz_wait wait;

	w->lost += state->waits_lost;
	w->wakings_lost += state->wakings_lost;
	w->woken_counted += state->woken_ns - state->woken_lost_ns;
	if (make_lost(w, scope, state, &wait))
		add_open(w, &wait);
}

bool waits__use_scope(const struct waits *w, uint32_t scope)
{
	return w->used[scope] == w->harvests || objects__use_scope(w->objects, scope);
}

void waits__retire_scope(struct waits *w, uint32_t scope, const struct qz_scope_state *state)
{
	struct qz_wait wait;

	w->retired.lost += state->waits_lost;
	w->retired.wakings_lost += state->wakings_lost;
	w->retired.woken_counted += state->woken_ns - state->woken_lost_ns;
	if (w->scopes[scope] != QZ_NONE && make_lost(w, scope, state, &wait) &&
	    qz_profile__add_wait(w->profile, &wait))
		w->dropped += wait.count;
	waits__add_scope(w, scope, QZ_NONE);
}

void waits__forget(struct waits *w, const bool *marked)
{
	wait_stacks__forget(w->stacks, marked);
}

void waits__folded(struct waits *w, const struct qz_maps *maps)
{
	objects__folded(w->objects, maps);
	for (uint32_t i = 0; i < w->nopen; i++) {
		struct qz_wait *open = &w->open[i];

		open->scope = maps->scopes[open->scope];
		open->thread = open->thread == QZ_NONE ? QZ_NONE : maps->threads[open->thread];
		open->object = open->object == QZ_NONE ? QZ_NONE : maps->objects[open->object];
	}
}

uint64_t waits__wakings_lost(const struct waits *w)
{
	return w->wakings_lost;
}

uint64_t waits__woken_unaccounted(const struct waits *w)
{
	return w->woken_counted > w->woken_ns ? w->woken_counted - w->woken_ns
					      : w->woken_ns - w->woken_counted;
}

uint64_t waits__count_lost(const struct waits *w)
{
	return w->lost + w->dropped;
}
