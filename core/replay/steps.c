/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps what threads do, as steps, while records are applied. A step has the thread's running time since the step before.
 * Ready time is left out, because the rerun computes it anew, except for two parts: the time that a woken thread takes to
 * get to a free processor, and the time for which threads outside of the scope have its processor.
 */
#include "core/replay/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/util/vec.h"

#define FUTEX_WAITERS_BIT 0x80000000u
#define LOCK_CONTENDED	  2
#define PLACE_START	  1u
#define PLACE_FORK	  2u
#define PLACE_END	  3u

struct replay_steps *replay_steps__new(void)
{
	struct replay_steps *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->steps = malloc(STEPS_MOST * sizeof(*all->steps));
	all->segments = calloc(SEGMENTS_MOST, sizeof(*all->segments));
	all->nsegments = 1;
	memset(all->known_from, 0xff, sizeof(all->known_from));
	if (!all->steps || !all->segments) {
		replay_steps__free(all);
		return NULL;
	}
	return all;
}

void replay_steps__free(struct replay_steps *all)
{
	if (!all)
		return;
	qz_hash_table__free(&all->index);
	free(all->candidate_of);
	free(all->segments);
	free(all->threads);
	free(all->steps);
	free(all);
}

/* ---- places and segments ---- */

static uint32_t place_of(const struct replay_stay *stay)
{
	uint32_t stack = QZ_LOG_STACK(stay->place);

	return qz_hash_table__hash_number(stay->cause, stack ? stack : stay->site);
}

static bool step_segment__is(const void *context, uint32_t i, const void *key)
{
	const struct replay_steps *all = context;
	const struct step_segment *s = key;

	return all->segments[i].from == s->from && all->segments[i].to == s->to &&
	       all->segments[i].length == s->length;
}

/* The number of the segment. 0: there are too many. */
static uint32_t step_segment__intern(struct replay_steps *all, struct step_segment key)
{
	uint32_t hash = qz_hash_table__hash_number(key.from, (uint64_t)key.length << 32 | key.to);
	uint32_t i = qz_hash_table__find(&all->index, hash, step_segment__is, all, &key);

	if (i != REPLAY_NONE)
		return i;
	if (all->nsegments == SEGMENTS_MOST || qz_hash_table__reserve(&all->index))
		return 0;
	all->segments[all->nsegments] = key;
	qz_hash_table__insert(&all->index, hash, all->nsegments);
	return all->nsegments++;
}

static uint32_t step_segment__get(struct replay_steps *all, uint32_t from, uint32_t to,
				  uint64_t run)
{
	struct step_segment key = {.from = from, .to = to};

	key.general = step_segment__intern(all, key);
	if (!key.general)
		return 0;
	all->segments[key.general].general = key.general;
	key.length = 64 - (uint32_t)__builtin_clzll(run | 1);
	return step_segment__intern(all, key) ?: key.general;
}

/* ---- steps ---- */

static struct step_thread *thread_of(const struct replay *r, const struct replay_row *t)
{
	const struct replay_steps *all = r->steps;

	return t->steps != REPLAY_NONE && !all->full ? &all->threads[t->steps] : NULL;
}

static uint32_t step__add(struct replay *r, struct step_thread *t, uint8_t kind)
{
	struct replay_steps *all = r->steps;
	uint32_t i = all->n;

	if (i == STEPS_MOST) {
		all->full = all->full ?: r->now;
		return REPLAY_NONE;
	}
	all->n++;
	all->steps[i] = (struct step) {
		.next = REPLAY_NONE,
		.thread = (uint32_t)(t - all->threads),
		.other = REPLAY_NONE,
		.object = REPLAY_NONE,
		.need = REPLAY_NONE,
		.kind = kind,
	};
	if (t->last != REPLAY_NONE)
		all->steps[t->last].next = i;
	else
		t->first = i;
	t->last = i;
	if (t->open == REPLAY_NONE)
		t->open = i;
	return i;
}

static uint64_t ran(const struct replay *r, const struct replay_row *t)
{
	return t->pub.ns[REPLAY_RUNNING] +
	       (t->pub.state == REPLAY_RUNNING ? r->now - t->pub.since : 0);
}

/* Adds a step at which a segment ends, with the running time of the thread since its last step. */
static uint32_t step__bound(struct replay *r, const struct replay_row *row, struct step_thread *t,
			    uint8_t kind, uint32_t place)
{
	struct replay_steps *all = r->steps;
	uint64_t run = ran(r, row) - t->settled + t->stretch;
	uint32_t i, segment = step_segment__get(all, t->place, place, run);

	for (; run > UINT32_MAX; run -= UINT32_MAX) {
		i = step__add(r, t, STEP_RUN);
		if (i == REPLAY_NONE)
			return i;
		all->steps[i].run = UINT32_MAX;
	}
	i = step__add(r, t, kind);
	if (i == REPLAY_NONE)
		return i;
	all->steps[i].run = (uint32_t)run;
	all->steps[i].late = t->late > UINT32_MAX ? UINT32_MAX : (uint32_t)t->late;
	all->steps[i].flags = STEP_BOUND;
	t->settled = ran(r, row);
	t->stretch = t->late = 0;
	for (uint32_t k = t->open; k != REPLAY_NONE; k = all->steps[k].next)
		all->steps[k].segment = (uint16_t)segment;
	t->open = REPLAY_NONE;
	t->place = place;
	return i;
}

static void step__make_sleep(struct replay_steps *all, uint32_t i, uint64_t ns)
{
	all->steps[i].kind = STEP_SLEEP;
	all->steps[i].other = (uint32_t)ns;
	all->steps[i].object = (uint32_t)(ns >> 32);
	all->outside_ns += ns;
}

static uint64_t room_of(const struct replay *r, const struct replay_row *row)
{
	return replay_parallelism__room_ns(replay__parallelism(r, row->pub.scope), r->now);
}

static void begin_ready(const struct replay *r, const struct replay_row *row, struct step_thread *t,
			bool preempted)
{
	t->preempted = preempted;
	t->ready_at = r->now;
	t->room_ns = room_of(r, row);
}

/* ---- life ---- */

void replay_steps__begin(struct replay *r, struct replay_row *row)
{
	struct replay_steps *all = r->steps;

	row->steps = REPLAY_NONE;
	if (row->pub.scope == REPLAY_NONE || all->full || all->failed)
		return;
	if (qz_array__reserve((void **)&all->threads, all->nthreads, sizeof(*all->threads))) {
		all->failed = true;
		return;
	}
	row->steps = all->nthreads++;
	all->threads[row->steps] = (struct step_thread) {
		.scope = row->pub.scope,
		.first = REPLAY_NONE,
		.last = REPLAY_NONE,
		.open = REPLAY_NONE,
		.wait = REPLAY_NONE,
		.place = PLACE_START,
		.from = r->now,
	};
}

void replay_steps__drop_scope(struct replay *r, uint32_t scope)
{
	for (uint32_t i = 0; i < r->steps->nthreads; i++)
		if (r->steps->threads[i].scope == scope)
			r->steps->threads[i].scope = REPLAY_NONE;
}

void replay_steps__fork(struct replay *r, struct replay_row *creator, struct replay_row *row)
{
	struct step_thread *t = thread_of(r, creator), *child = thread_of(r, row);
	uint32_t i;

	if (!t || !child || t->scope != child->scope)
		return;
	i = step__bound(r, creator, t, STEP_FORK, PLACE_FORK);
	if (i == REPLAY_NONE)
		return;
	r->steps->steps[i].other = row->steps;
	child->created = true;
	begin_ready(r, row, child, false);
}

void replay_steps__exit(struct replay *r, const struct replay_row *row)
{
	if (row->pub.tid == row->pub.process && row->process_row != REPLAY_NONE)
		replay__process(r, row->process_row)->exited = r->now;
}

/*
 * Whether another thread ended this one, by exit_group or a signal. The rerun does not wait for such a thread. If it slept, that
 * call has woken it; if it ran, it ends after the first thread of its process.
 */
static bool is_killed(const struct replay *r, const struct replay_row *row)
{
	uint64_t exited;

	if (row->pub.tid == row->pub.process || row->process_row == REPLAY_NONE)
		return false;
	exited = replay__process(r, row->process_row)->exited;
	return exited && r->now - exited <= REPLAY_NEAR_NS;
}

void replay_steps__end(struct replay *r, struct replay_row *row)
{
	struct step_thread *t = thread_of(r, row);
	uint32_t i;

	if (!t)
		return;
	i = step__bound(r, row, t, STEP_END, PLACE_END);
	if (i != REPLAY_NONE && is_killed(r, row))
		r->steps->steps[i].flags |= STEP_KILLED;
	row->steps = REPLAY_NONE;
}

/* ---- waits ---- */

void replay_steps__preempt(struct replay *r, struct replay_row *row)
{
	struct step_thread *t = thread_of(r, row);

	if (t)
		begin_ready(r, row, t, true);
}

/* Whether the futex word of the wait says that another thread holds the lock. */
static bool is_lock(const struct replay *r, const struct replay_row *row, uint64_t words)
{
	uint32_t i = row->stay.object;

	if (i == REPLAY_NONE || replay__queue(r, i)->pub.tag != QZ_TAG_FUTEX)
		return false;
	return QZ_LOG_WORD(words) == LOCK_CONTENDED || QZ_LOG_WORD(words) & FUTEX_WAITERS_BIT;
}

void replay_steps__block(struct replay *r, struct replay_row *row, uint64_t words)
{
	struct step_thread *t = thread_of(r, row);
	uint32_t i;

	if (!t)
		return;
	i = step__bound(r, row, t, STEP_WAIT, place_of(&row->stay));
	t->wait = i;
	if (i == REPLAY_NONE)
		return;
	r->steps->steps[i].object = row->stay.object;
	if (is_lock(r, row, words))
		r->steps->steps[i].flags |= STEP_LOCKED;
}

/* A number for the waker's place: by its stack or site if that is known, else by the wait that it ends. */
static uint32_t place_of_waker(const struct replay_row *row, const struct replay_waker *waker)
{
	uint32_t stack = QZ_LOG_STACK(waker->place);

	return qz_hash_table__hash_number(waker->cause, stack	      ? stack
							: waker->site ? waker->site
								      : place_of(&row->stay));
}

/* The thread of the same scope that has woken this one on purpose; NULL: there is none. */
static struct replay_row *waker_of(const struct replay *r, const struct replay_row *row,
				   const struct replay_waker *waker)
{
	struct replay_row *w;

	if (!waker || !waker->by_call || !waker->ref.serial)
		return NULL;
	w = replay__row(r, waker->ref.row);
	return w->lives && w->pub.serial == waker->ref.serial && w != row &&
			       w->pub.scope == row->pub.scope && w->steps != REPLAY_NONE
		       ? w
		       : NULL;
}

void replay_steps__wake(struct replay *r, struct replay_row *row, const struct replay_waker *waker)
{
	struct step_thread *t = thread_of(r, row);
	struct replay_row *w = waker_of(r, row, waker);
	struct replay_steps *all = r->steps;
	uint64_t held;
	uint32_t i;

	if (!t)
		return;
	held = r->now - (row->stay.began > t->from ? row->stay.began : t->from);
	begin_ready(r, row, t, false);
	if (t->wait == REPLAY_NONE)
		replay_steps__block(r, row, 0);
	if (t->wait == REPLAY_NONE)
		return;
	if (waker && waker->cause == QZ_WAIT_SYSCALL + SYS_exit_group)
		replay__process(r, row->process_row)->exited = r->now;
	i = w ? step__bound(r, w, thread_of(r, w), STEP_WAKE, place_of_waker(row, waker))
	      : REPLAY_NONE;
	if (i != REPLAY_NONE) {
		all->steps[i].other = t->wait;
		all->steps[t->wait].other = i;
		all->inside_ns += held;
	} else {
		step__make_sleep(all, t->wait, held);
	}
}

/* What the thread did while its state was unknown takes as long in the rerun. */
static void pass_unknown(struct replay *r, struct replay_row *row, struct step_thread *t)
{
	uint64_t ns = r->now - row->pub.since;
	uint32_t i = ns ? step__bound(r, row, t, STEP_SLEEP, PLACE_START) : REPLAY_NONE;

	if (i != REPLAY_NONE)
		step__make_sleep(r->steps, i, ns);
}

/*
 * A thread comes to a processor. Ready time during which its scope left one free for it is, after a wake-up, the way to
 * that processor. After a preemption, threads outside of the scope had its processor: then it is added to its running time.
 */
void replay_steps__come(struct replay *r, struct replay_row *row)
{
	struct step_thread *t = thread_of(r, row);
	uint64_t room;

	if (!t)
		return;
	if (row->pub.state == REPLAY_BLOCKED) {
		replay_steps__wake(r, row, NULL);
	} else if (row->pub.state == REPLAY_UNKNOWN) {
		pass_unknown(r, row, t);
	} else if (row->pub.state == REPLAY_READY && t->ready_at) {
		room = room_of(r, row) - t->room_ns;
		if (t->preempted)
			t->stretch += room;
		else
			t->late += room;
	}
	t->wait = REPLAY_NONE;
	t->ready_at = 0;
}

/* ---- samples ---- */

void replay_steps__sample(struct replay *r, struct replay_row *row,
			  const struct qz_log_record *record)
{
	struct step_thread *t = thread_of(r, row);
	struct replay_steps *all = r->steps;
	bool spins = record->state & QZ_LOG_SAMPLED_SPINNING;
	uint32_t mask = spins ? 0 : record->cause;
	uint32_t i;

	if (!t)
		return;
	t->spins += spins;
	t->samples++;
	if (!all->candidates)
		return;
	i = t->last;
	if (i != REPLAY_NONE && i >= all->known_last && all->steps[i].kind == STEP_SAMPLES &&
	    all->steps[i].object == mask) {
		all->steps[i].other++;
		return;
	}
	i = step__add(r, t, STEP_SAMPLES);
	if (i == REPLAY_NONE)
		return;
	all->steps[i].object = mask;
	all->steps[i].other = 1;
}

/* ---- candidates ---- */

/* Keeps the steps of a thread that exists already, from now on. */
static void begin_again(struct replay *r, struct replay_row *row)
{
	struct step_thread *t;

	replay_steps__begin(r, row);
	t = thread_of(r, row);
	if (!t)
		return;
	t->settled = ran(r, row);
	if (row->pub.state == REPLAY_BLOCKED)
		replay_steps__block(r, row, 0);
	else if (row->pub.state == REPLAY_READY)
		begin_ready(r, row, t, true);
}

void replay_steps__restart(struct replay *r)
{
	struct replay_steps *all = r->steps;

	all->n = all->nthreads = 0;
	all->full = 0;
	all->known_last = 0;
	for (uint32_t i = 0; i < REPLAY_CANDIDATES; i++)
		if (all->known_from[i] != UINT32_MAX)
			all->known_from[i] = 0;
	all->outside_ns = all->inside_ns = 0;
	for (uint32_t i = 0; i < r->threads.n; i++)
		if (replay__row(r, i)->lives)
			begin_again(r, replay__row(r, i));
}

void replay__know_candidate(struct replay *r, uint32_t candidate)
{
	struct replay_steps *all = r->steps;

	if (!all || candidate >= REPLAY_CANDIDATES)
		return;
	/* steps from before the first candidate was known are of little use: begin anew */
	if (!all->candidates && all->n > STEPS_MOST / 4) {
		replay_steps__restart(r);
		all->part = true;
	}
	if (candidate >= all->candidates)
		all->candidates = candidate + 1;
	all->known_from[candidate] = all->known_last = all->n;
}

int replay__set_candidate_object(struct replay *r, uint32_t object, uint32_t candidate)
{
	struct replay_steps *all = r->steps;
	uint32_t *more;

	if (!all || object >= r->objects.n)
		return 0;
	if (object >= all->nobjects) {
		more = realloc(all->candidate_of, r->objects.room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + all->nobjects, 0, (r->objects.room - all->nobjects) * sizeof(*more));
		all->candidate_of = more;
		all->nobjects = r->objects.room;
	}
	all->candidate_of[object] = candidate < REPLAY_CANDIDATES ? candidate + 1 : 0;
	return 0;
}
