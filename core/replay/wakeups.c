/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of wake-ups: which thread woke others, where, and from waits for what. */
#include "core/replay/state.h"

static uint32_t replay_wakeup__hash(const struct replay_wakeup *w)
{
	uint32_t hash = qz_hash_table__hash_number(w->scope, w->place);

	return qz_hash_table__hash_number(hash, (uint64_t)w->object << 32 | w->waker);
}

static bool replay_wakeup__equal(const struct replay_wakeup *a, const struct replay_wakeup *b)
{
	return a->scope == b->scope && a->waker == b->waker && a->object == b->object &&
	       a->place == b->place;
}

static bool replay_wakeup__is(const void *context, uint32_t i, const void *key)
{
	const struct replay *r = context;

	return replay_wakeup__equal((struct replay_wakeup *)r->wakeups.items + i, key);
}

/* The row with the first members of w, or REPLAY_NONE. */
static uint32_t replay_wakeup__find(const struct replay *r, const struct replay_wakeup *w)
{
	return qz_hash_table__find(&r->wakeups.index, replay_wakeup__hash(w), replay_wakeup__is, r,
				   w);
}

/* There must be room for it. */
static uint32_t replay_wakeup__begin(struct replay *r, const struct replay_wakeup *w)
{
	struct replay_wakeup *row = (struct replay_wakeup *)r->wakeups.items + r->wakeups.n;

	*row = *w;
	row->count = row->polls = row->woken_ns = row->blocked_ns = 0;
	qz_hash_table__insert(&r->wakeups.index, replay_wakeup__hash(w), r->wakeups.n);
	return r->wakeups.n++;
}

void replay_wakeup__put(struct replay *r, const struct replay_wakeup *w, uint64_t count,
			uint64_t woken_ns)
{
	uint32_t i = replay_wakeup__find(r, w);
	struct replay_wakeup *row;

	if (i == REPLAY_NONE) {
		if (replay__make_room(r)) /* one record may add several rows */
			return;
		i = replay_wakeup__begin(r, w);
	}
	row = (struct replay_wakeup *)r->wakeups.items + i;
	row->count += count;
	row->woken_ns += woken_ns;
}

/* Without the time until woken. */
static void add_count(struct replay *r, struct replay_row *by, const struct replay_wakeup *w,
		      uint64_t blocked_ns, bool poll)
{
	struct replay_wakeup *rows = r->wakeups.items;
	uint32_t *last = &by->last_wakeups[w->object % LAST_WAKEUPS];

	if (*last >= r->wakeups.n || !replay_wakeup__equal(&rows[*last], w)) {
		*last = replay_wakeup__find(r, w);
		if (*last == REPLAY_NONE)
			*last = replay_wakeup__begin(r, w);
	}
	rows[*last].count++;
	rows[*last].polls += poll;
	rows[*last].blocked_ns += blocked_ns;
}

void replay_wakeup__add(struct replay *r, struct replay_row *t, const struct replay_waker *waker,
			uint64_t blocked_ns)
{
	struct replay_row *by = waker->ref.serial ? replay__row(r, waker->ref.row) : t;
	struct replay_wakeup w = {
		.scope = t->pub.scope,
		.waker = waker->ref.serial,
		.number = waker->ref.serial && by->pub.scope == t->pub.scope ? by->pub.number : 0,
		.place = waker->place,
		.object = t->stay.object,
	};

	t->pub.woken++;
	if (!r->options.woken) {
		add_count(r, by, &w, blocked_ns, t->stay.cause == QZ_WAIT_POLL);
		return;
	}
	replay_window__charge(r, t, waker, &w, blocked_ns);
	replay_window__begin(r, t);
}

void replay__each_wakeup(const struct replay *r,
			 void (*call)(void *context, const struct replay_wakeup *w), void *context)
{
	for (uint32_t i = 0; i < r->wakeups.n; i++)
		call(context, (struct replay_wakeup *)r->wakeups.items + i);
}
