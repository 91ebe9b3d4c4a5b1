/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of waits: where threads wait, for what, and for how long. */
#include <stdlib.h>

#include "core/replay/state.h"

#define VARIANCE_UNIT (1 << 20) /* of struct replay_wait, in ns^2 */

/* ---- places ---- */

static struct replay_place *replay_place__set(const struct replay *r, uint32_t site)
{
	uint32_t hash = qz_hash_table__hash_number(2, site);

	return &r->places[(size_t)(hash & (r->place_sets - 1)) * PLACE_WAYS];
}

/* NULL: not known. */
static struct replay_place *replay_place__find(struct replay *r, struct replay_row *t,
					       uint32_t site)
{
	struct replay_place *place;

	if (!site)
		return NULL;
	if (t->last_place != REPLAY_NONE && r->places[t->last_place].site == site) {
		place = &r->places[t->last_place];
	} else {
		place = replay_place__set(r, site);
		for (int i = 0; place->site != site; place++)
			if (++i == PLACE_WAYS)
				return NULL;
		t->last_place = (uint32_t)(place - r->places);
	}
	place->used = ++r->place_clock;
	return place;
}

/* The entry of a site in its set, or, for a new one, a free entry, or the least recently used one. */
static struct replay_place *replay_place__choose(const struct replay *r, uint32_t site)
{
	struct replay_place *set = replay_place__set(r, site), *place = set;

	for (int i = 0; i < PLACE_WAYS && place->site != site; i++)
		if (set[i].site == site ||
		    r->place_clock - set[i].used > r->place_clock - place->used)
			place = &set[i];
	return place;
}

/* Doubles the number of sets. Without memory for that, it stays as it is. */
static void replay_place__grow(struct replay *r)
{
	struct replay_place *old = r->places;
	uint32_t n = r->place_sets * PLACE_WAYS;

	r->places = calloc(2 * (size_t)n, sizeof(*old));
	if (!r->places) {
		r->places = old;
		return;
	}
	r->place_sets *= 2;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].site)
			*replay_place__choose(r, old[i].site) = old[i];
	free(old);
}

/* The object may have had another number meanwhile, which is not used again. */
static void replay_place__tell(struct replay_place *p, uint32_t place)
{
	if (p->place == place)
		return;
	p->several |= p->former == place;
	p->former = p->place;
}

void replay__apply_site(struct replay *r, const struct qz_log_record *record)
{
	struct replay_place *place;

	if (!record->site) {
		r->counts.impossible++;
		return;
	}
	r->place_clock++;
	place = replay_place__choose(r, record->site);
	if (place->site && place->site != record->site && r->place_sets < PLACE_SETS_MOST) {
		replay_place__grow(r);
		place = replay_place__choose(r, record->site);
	}
	if (place->site != record->site)
		*place = (struct replay_place) {.place = record->other, .former = record->other};
	replay_place__tell(place, record->other);
	*place = (struct replay_place) {
		.site = record->site,
		.place = record->other,
		.former = place->former,
		.telling = r->place_clock,
		.several = place->several,
		.certain = true,
		.cause = record->cause,
		.tag = record->state,
		.used = r->place_clock,
		.address = record->object,
	};
}

/* ---- the present wait of a thread ---- */

uint32_t replay_place__of(struct replay *r, struct replay_row *t, uint32_t site)
{
	const struct replay_place *place = replay_place__find(r, t, site);

	return place ? place->place : 0;
}

/* A preempted thread waits for no object, even if its site has the hash of another place where threads do. */
static bool is_preempted(const struct qz_log_record *left)
{
	return left && left->state == QZ_LOG_PREEMPTED;
}

static void begin_at(struct replay *r, struct replay_row *t, uint16_t cause,
		     const struct replay_place *place, const struct qz_log_record *left)
{
	uint32_t object = place && !is_preempted(left) ? replay_queue__find(r, t, place)
						       : REPLAY_NONE;

	t->stay = (struct replay_stay) {
		.site = left ? left->site : 0,
		.place = place ? place->place : 0,
		.object = object,
		.cause = place ? place->cause : cause,
		.began = r->now,
		.room_ns = replay_parallelism__room_ns(r->machine, r->now),
	};
	if (t->pub.scope != REPLAY_NONE)
		t->stay.runnable_ns = replay_parallelism__runnable_ns(
			replay__parallelism(r, t->pub.scope), r->now);
	if (object != REPLAY_NONE)
		replay_queue__join(r, t, left ? left->object : 0);
}

void replay_stay__begin(struct replay *r, struct replay_row *t, uint16_t cause,
			const struct qz_log_record *left)
{
	struct replay_place *place = left ? replay_place__find(r, t, left->site) : NULL;

	begin_at(r, t, cause, place, left);
	if (place && place->several && !place->certain)
		t->stay.telling = place->telling;
	if (place)
		place->certain = false;
}

void replay_stay__begin_at(struct replay *r, struct replay_row *t, uint16_t cause, uint32_t place)
{
	static const uint8_t tags[] = {
		[QZ_WAIT_FUTEX] = QZ_TAG_FUTEX,
		[QZ_WAIT_PIPE] = QZ_TAG_PIPE,
		[QZ_WAIT_SOCKET] = QZ_TAG_SOCKET,
		[QZ_WAIT_DISK] = QZ_TAG_FILE,
	};
	const struct replay_place at = {
		.place = place, .cause = cause, .tag = cause < sizeof(tags) ? tags[cause] : 0};

	begin_at(r, t, cause, place ? &at : NULL, NULL);
}

void replay_stay__restart(struct replay *r, struct replay_row *t)
{
	t->stay.began = r->now;
	t->stay.blocked_ns = t->stay.ready_ns = 0;
	t->stay.runnable_ns =
		replay_parallelism__runnable_ns(replay__parallelism(r, t->pub.scope), r->now);
	t->stay.room_ns = replay_parallelism__room_ns(r->machine, r->now);
}

/* Mean nominal parallelism of the scope during the wait so far. */
static uint16_t replay_stay__nominal(const struct replay *r, const struct replay_row *t)
{
	uint64_t elapsed = r->now - t->stay.began, mean;
	const struct replay_parallelism *s;

	if (t->pub.scope == REPLAY_NONE)
		return 0;
	s = replay__parallelism(r, t->pub.scope);
	mean = s->pub.runnable;
	if (elapsed)
		mean = (replay_parallelism__runnable_ns(s, r->now) - t->stay.runnable_ns +
			elapsed / 2) /
		       elapsed;
	return (uint16_t)qz_nominal__group(mean < QZ_MAX_NOMINAL ? (uint32_t)mean : QZ_MAX_NOMINAL);
}

/* ---- the table ---- */

static uint32_t replay_wait__hash(const struct replay_wait *w)
{
	uint32_t hash = qz_hash_table__hash_number(w->serial, (uint64_t)w->site << 32 | w->place);

	return qz_hash_table__hash_number(hash, (uint64_t)w->object << 32 |
							(uint32_t)w->cause << 16 | w->nominal);
}

static bool replay_wait__equal(const struct replay_wait *a, const struct replay_wait *b)
{
	return a->serial == b->serial && a->site == b->site && a->place == b->place &&
	       a->object == b->object && a->cause == b->cause && a->nominal == b->nominal;
}

static bool replay_wait__is(const void *context, uint32_t i, const void *key)
{
	const struct replay *r = context;

	return replay_wait__equal((struct replay_wait *)r->waits.items + i, key);
}

static struct replay_wait replay_stay__tell(const struct replay *r, const struct replay_row *t)
{
	return (struct replay_wait) {
		.serial = t->pub.serial,
		.number = t->pub.number,
		.scope = t->pub.scope,
		.site = t->stay.site,
		.place = t->stay.place,
		.cause = t->stay.cause,
		.nominal = replay_stay__nominal(r, t),
		.object = t->stay.object,
		.blocked_ns = t->stay.blocked_ns,
		.ready_ns = t->stay.ready_ns,
		.telling = t->stay.telling,
	};
}

/* The row with the first members of w, which is added if there is none. */
static struct replay_wait *replay_wait__get(struct replay *r, struct replay_row *t,
					    const struct replay_wait *w)
{
	struct replay_wait *rows = r->waits.items;
	uint32_t *last = &t->last_waits[(w->site ^ w->nominal) % LAST_WAITS], hash, i = *last;

	if (i < r->waits.n && replay_wait__equal(&rows[i], w))
		return &rows[i];
	hash = replay_wait__hash(w);
	i = qz_hash_table__find(&r->waits.index, hash, replay_wait__is, r, w);
	if (i == REPLAY_NONE) {
		i = r->waits.n++;
		rows[i] = *w;
		rows[i].count = rows[i].blocked_ns = rows[i].ready_ns = 0;
		rows[i].handed = 0;
		rows[i].telling = 0;
		qz_hash_table__insert(&r->waits.index, hash, i);
	}
	*last = i;
	return &rows[i];
}

/*
 * The log has one place for all waits of a site between two of its SITE records, but each may have been at another place.
 * The variance is between the two extremes: the sum of squares, and the square of the sum.
 */
static void replay_wait__doubt(struct replay_wait *w, const struct replay_wait *told)
{
	double ns = (double)(told->blocked_ns + told->ready_ns);

	if (!told->telling)
		return;
	if (w->telling != told->telling)
		w->told_ns = 0;
	w->telling = told->telling;
	w->variance += (uint64_t)(2 * ns * (ns + (double)w->told_ns) / VARIANCE_UNIT);
	w->told_ns += told->blocked_ns + told->ready_ns;
}

void replay_stay__end(struct replay *r, struct replay_row *t)
{
	struct replay_wait told, *w;

	replay_row__charge(r, t);
	replay_queue__leave(r, t, NULL);
	if (t->stay.object != REPLAY_NONE)
		replay__queue(r, t->stay.object)->refs--;
	told = replay_stay__tell(r, t);
	t->waited = true;
	w = replay_wait__get(r, t, &told);
	w->number = told.number;
	w->count++;
	w->blocked_ns += told.blocked_ns;
	w->ready_ns += told.ready_ns;
	w->handed += t->stay.handed && t->stay.cause == QZ_WAIT_POLL;
	replay_wait__doubt(w, &told);
	/* a thread that is woken late names the object */
	t->stay.blocked_ns = t->stay.ready_ns = 0;
}

/* ---- for the user ---- */

void replay__each_wait(const struct replay *r,
		       void (*call)(void *context, const struct replay_wait *w), void *context)
{
	for (uint32_t i = 0; i < r->waits.n; i++)
		call(context, (struct replay_wait *)r->waits.items + i);
}

void replay__each_open_wait(const struct replay *r,
			    void (*call)(void *context, const struct replay_wait *w), void *context)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		struct replay_row *t = replay__row(r, i);
		struct replay_wait w;

		if (!t->lives || !replay_row__waits(t))
			continue;
		replay_row__charge(r, t);
		w = replay_stay__tell(r, t);
		call(context, &w);
	}
}

void replay_wait__number(struct replay *r, const struct replay_row *t)
{
	struct replay_wait *rows = r->waits.items;

	for (uint32_t i = 0; t->waited && i < r->waits.n; i++)
		if (rows[i].serial == t->pub.serial)
			rows[i].number = t->pub.number;
}

/* Such a wait stays: the process of its thread has no number yet, so it cannot be attributed. */
static bool replay_wait__stays(const struct replay *r, const struct replay_wait *w)
{
	const struct replay_parallelism *s =
		w->scope == REPLAY_NONE ? NULL : replay__parallelism(r, w->scope);

	return s && s->exists && s->pub.number == REPLAY_NONE;
}

void replay__clear_waits(struct replay *r, bool all)
{
	struct replay_wait *rows = r->waits.items;
	uint32_t n = 0;

	qz_hash_table__clear(&r->waits.index);
	for (uint32_t i = 0; i < r->waits.n; i++) {
		if (all || !replay_wait__stays(r, &rows[i]))
			continue;
		rows[n] = rows[i];
		qz_hash_table__insert(&r->waits.index, replay_wait__hash(&rows[n]), n);
		n++;
	}
	r->waits.n = n;
	r->wakeups.n = 0;
	qz_hash_table__clear(&r->wakeups.index);
	replay__reuse_dropped(r);
}
