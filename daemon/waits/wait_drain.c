// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "core/util/bits.h"
#include "core/util/vec.h"
#include "daemon/waits/objects.h"
#include "daemon/waits/wait_stacks.h"
#include "daemon/waits/wait_drain.h"

struct wait_drain {
	struct threads *threads;
	const struct stack_context *context;
	struct qz_profile *profile;
	struct wait_stacks *stacks;
	struct objects *objects;
	struct live_wait *rows; /* as they were taken out, not yet part of the profile */
	uint32_t nrows;
	uint64_t woken_counted; /* of all scopes, by the last refresh */
	uint64_t woken_retired; /* of those of them that have ended for good */
	uint64_t woken_ns;	/* taken out of the table and added, ever */
	uint64_t dropped;	/* for want of memory here */
	uint32_t *used;		/* by scope in BPF: the last drain at which it had a slot */
	uint32_t drains;
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
	w->threads = threads;
	w->context = context;
	w->profile = context->profile;
	w->stacks = wait_stacks__new(bpf, context);
	w->objects = w->stacks ? objects__new(bpf, threads, context, w->stacks, names) : NULL;
	w->used = calloc(scopes, sizeof(*w->used));
	if (!w->objects || !w->used) {
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
	free(w->used);
	free(w->rows);
	free(w);
}

/* ---- taking out ---- */

void wait_drain__take(struct wait_drain *w, bool aging)
{
	w->drains++;
	/* in this order: what names another was written after it */
	objects__drain(w->objects, aging);
	wait_stacks__drain(w->stacks, aging);
}

void wait_drain__put(struct wait_drain *w, const struct live_wait *row)
{
	w->used[row->scope] = w->drains;
	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	if (qz_array__reserve((void **)&w->rows, w->nrows, sizeof(*w->rows)))
		w->dropped += row->count;
	else
		w->rows[w->nrows++] = *row;
}

/* ---- adding ---- */

/* False when its owner is unknown. */
static bool make_wait(struct wait_drain *w, const struct live_wait *row, struct qz_wait *wait)
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
		.handed = row->handed,
	};
	return true;
}

/* As make_wait; where the waker is not known, the thread is QZ_NONE and the node 0. */
static bool add_waking(struct wait_drain *w, const struct live_wait *row)
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

static bool add_drained(struct wait_drain *w, const struct live_wait *row)
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

void wait_drain__open(struct wait_drain *w, const struct live_wait *row)
{
	struct qz_wait wait;

	if (!row->count && !row->blocked_ns && !row->ready_ns)
		return;
	/* of a thread that has not been reported yet, or without memory */
	if (!make_wait(w, row, &wait) || qz_waits__open(w->profile, &wait))
		w->unopened += row->count;
}

void wait_drain__begin_refresh(struct wait_drain *w)
{
	qz_waits__close_all(w->profile);
	w->unopened = 0;
	w->woken_counted = w->woken_retired;
	objects__want_waited(w->objects);
	objects__name(w->objects);
}

struct objects *wait_drain__objects(const struct wait_drain *w)
{
	return w->objects;
}

void wait_drain__count(struct wait_drain *w, const struct qz_scope_state *state)
{
	w->woken_counted += state->woken_ns;
}

bool wait_drain__use_scope(const struct wait_drain *w, uint32_t scope)
{
	return w->used[scope] == w->drains || objects__use_scope(w->objects, scope);
}

void wait_drain__retire_scope(struct wait_drain *w, const struct qz_scope_state *state)
{
	w->woken_retired += state->woken_ns;
}

void wait_drain__forget(struct wait_drain *w, const bool *marked)
{
	wait_stacks__forget(w->stacks, marked);
}

uint64_t wait_drain__woken_unaccounted(const struct wait_drain *w)
{
	uint64_t counted = w->woken_counted;

	return counted > w->woken_ns ? counted - w->woken_ns : w->woken_ns - counted;
}

uint64_t wait_drain__count_lost(const struct wait_drain *w)
{
	return w->dropped + w->unopened;
}
