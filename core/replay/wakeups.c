/* SPDX-License-Identifier: GPL-2.0-only */
/* Who woke whom: the table of wake-ups. */
#include "core/replay/state.h"

static uint32_t replay_wakeup__hash(const struct replay_wakeup *w)
{
	return qz_hash_table__hash_number(w->scope, (uint64_t)w->object << 32 | w->waker);
}

static bool replay_wakeup__equal(const struct replay_wakeup *a, const struct replay_wakeup *b)
{
	return a->scope == b->scope && a->waker == b->waker && a->object == b->object;
}

static bool replay_wakeup__is(const void *context, uint32_t i, const void *key)
{
	const struct replay *r = context;

	return replay_wakeup__equal((struct replay_wakeup *)r->wakeups.items + i, key);
}

void replay_wakeup__add(struct replay *r, struct replay_row *t, const struct replay_waker *waker,
			uint64_t blocked_ns)
{
	struct replay_wakeup *rows = r->wakeups.items;
	struct replay_wakeup w = {
		.scope = t->pub.scope, .waker = waker->ref.serial, .object = t->stay.object};
	struct replay_row *by = waker->ref.serial ? replay__row(r, waker->ref.row) : t;
	uint32_t *last = &by->last_wakeups[w.object % LAST_WAKEUPS], hash, i = *last;

	t->pub.woken++;
	if (i >= r->wakeups.n || !replay_wakeup__equal(&rows[i], &w)) {
		hash = replay_wakeup__hash(&w);
		i = qz_hash_table__find(&r->wakeups.index, hash, replay_wakeup__is, r, &w);
		if (i == REPLAY_NONE) {
			i = r->wakeups.n++;
			rows[i] = w;
			qz_hash_table__insert(&r->wakeups.index, hash, i);
		}
		*last = i;
	}
	rows[i].count++;
	rows[i].blocked_ns += blocked_ns;
}

void replay__each_wakeup(const struct replay *r,
			 void (*call)(void *context, const struct replay_wakeup *w), void *context)
{
	for (uint32_t i = 0; i < r->wakeups.n; i++)
		call(context, (struct replay_wakeup *)r->wakeups.items + i);
}
