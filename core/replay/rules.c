/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dependencies between steps that the log does not show. A wait shows that a thread could not go on before another one woke
 * it. It does not show whether the waker could have come there earlier, before the wait began. It could not
 *  - if both hand over through a bounded queue: the producer cannot be further ahead than the queue is long. The consumer
 *    waits first, while the queue is empty; so a later wait of the producer for the consumer is one for room in the queue;
 *  - if all threads meet: the last one to come wakes all others, and these work before they come there again.
 * A lock is no such dependency: the thread that releases it does not need the one that waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/steps.h"
#include "core/util/vec.h"

#define RIGHT_AFTER_NS                                                                             \
	50000 /* a thread that runs for less than this between two steps does both at once */
#define FILLS                                                                                      \
	3 /* a thread that runs so many times longer than usual before its first wait fills a queue */
#define FILLS_NO  1
#define FILLS_YES 2

/* What the steps tell of an object. */
struct meeting {
	uint32_t locked, unlocked; /* waits whose word was that of a held lock, or was not */
	uint32_t waiting;	   /* threads, now */
	uint32_t vain;		   /* waits after which the thread found no work */
	uint32_t all, some;	   /* bursts of wake-ups that left no thread waiting, or some */
	uint32_t waits_of;	   /* a thread that waits here, + 1 */
	uint32_t lonely;	   /* wake-ups by threads that never wait here */
	uint32_t place;		   /* of the last wait */
	bool places;		   /* there were waits at other places, too */
	bool lock, barrier;
};

/*
 * A producer (the former) and a consumer (the later one) of a queue. Times are running times, up to a step.
 */
struct pair {
	uint32_t low, high, later;
	uint64_t put_began, took_began; /* of both, when the later one first waited */
	bool began, full;
	/* of both, when the former first and last waited for room and was woken */
	uint64_t put_first, took_first, put_last, took_last;
	uint64_t ahead;	     /* running time that the later one needs for a full queue */
	uint32_t last;	     /* the last WAKE by the later one of the former */
	uint32_t next, need; /* the present ones, while dependencies are marked */
};

struct rules {
	struct replay_steps *all;
	struct meeting *meetings; /* by object */
	uint32_t nmeetings;
	uint64_t *ran; /* by step: running time of its thread up to there */
	uint32_t *
		later; /* by step, if it is a WAKE that ends a producer's wait: the next such one */
	uint8_t *fills; /* by thread: 0, not decided yet; FILLS_NO, FILLS_YES */
	struct pair *pairs;
	uint32_t npairs;
	struct qz_hash_table index;
};

static struct meeting *meeting_of(const struct rules *r, const struct step *wait)
{
	return wait->object == REPLAY_NONE ? NULL : &r->meetings[wait->object];
}

static struct step *wait_of(const struct rules *r, const struct step *wake)
{
	return &r->all->steps[wake->other];
}

static bool is_wait(const struct step *s)
{
	return s->kind == STEP_WAIT && s->other != REPLAY_NONE;
}

/* ---- objects ---- */

static int make_meetings(struct rules *r)
{
	for (uint32_t i = 0; i < r->all->n; i++) {
		struct step *s = &r->all->steps[i];

		s->flags &= (uint8_t) ~(STEP_DROPPED | STEP_BURST | STEP_LOCK);
		s->need = REPLAY_NONE;
		if (s->kind == STEP_WAIT && s->object != REPLAY_NONE && s->object >= r->nmeetings)
			r->nmeetings = s->object + 1;
	}
	r->meetings = calloc(r->nmeetings + 1ul, sizeof(*r->meetings));
	return r->meetings ? 0 : -ENOMEM;
}

/* Whether the thread wakes another one at the same object right afterwards. */
static bool goes_on(const struct rules *r, const struct step *wake)
{
	uint32_t i = wake->next;

	while (i != REPLAY_NONE && r->all->steps[i].kind == STEP_SAMPLES)
		i = r->all->steps[i].next;
	return i != REPLAY_NONE && r->all->steps[i].kind == STEP_WAKE &&
	       r->all->steps[i].run < RIGHT_AFTER_NS &&
	       wait_of(r, &r->all->steps[i])->object == wait_of(r, wake)->object;
}

static void count_bursts(struct rules *r)
{
	for (uint32_t i = 0; i < r->all->n; i++) {
		const struct step *s = &r->all->steps[i];
		struct meeting *m;

		if (is_wait(s)) {
			m = meeting_of(r, s);
			if (m) {
				m->waiting++;
				m->locked += !!(s->flags & STEP_LOCKED);
				m->unlocked += !(s->flags & STEP_LOCKED);
			}
		}
		m = s->kind == STEP_WAKE ? meeting_of(r, wait_of(r, s)) : NULL;
		if (!m)
			continue;
		m->waiting -= m->waiting > 0;
		if (goes_on(r, s))
			continue;
		m->all += !m->waiting;
		m->some += !!m->waiting;
	}
}

static void count_lonely_wakers(struct rules *r)
{
	const struct step *steps = r->all->steps;

	for (uint32_t t = 0; t < r->all->nthreads; t++) {
		uint32_t first = r->all->threads[t].first;
		struct meeting *m;

		for (uint32_t i = first; i != REPLAY_NONE; i = steps[i].next)
			if (is_wait(&steps[i]) && (m = meeting_of(r, &steps[i]))) {
				uint32_t place = r->all->segments[steps[i].segment].to;

				m->waits_of = t + 1;
				m->places |= m->place && m->place != place;
				m->place = place;
			}
		for (uint32_t i = first; i != REPLAY_NONE; i = steps[i].next)
			if (steps[i].kind == STEP_WAKE &&
			    (m = meeting_of(r, wait_of(r, &steps[i]))))
				m->lonely += m->waits_of != t + 1;
	}
}

static void judge_locks(struct rules *r)
{
	for (uint32_t i = 0; i < r->nmeetings; i++)
		r->meetings[i].lock = r->meetings[i].locked > r->meetings[i].unlocked;
}

/* ---- waits after which a thread found no work ---- */

/*
 * Of threads that are woken together, some find no work and wait again. A thread that is woken for a lock may find it
 * taken. Such waits are one with the wait that follows: what ended the last one is what the thread waited for.
 */
static void drop_vain_waits(struct rules *r, const struct step_thread *t)
{
	struct step *steps = r->all->steps, *last[2] = {0}; /* [1]: of waits for locks */
	uint64_t ran[2] = {0};

	for (uint32_t i = t->first; i != REPLAY_NONE; i = steps[i].next) {
		struct step *s = &steps[i];
		struct meeting *m = s->kind == STEP_WAKE ? meeting_of(r, wait_of(r, s)) : NULL;
		bool lock = m && m->lock;

		if (s->kind == STEP_FORK || s->kind == STEP_WAKE)
			last[1] = NULL;
		if (s->kind == STEP_FORK || (s->kind == STEP_WAKE && !lock))
			last[0] = NULL;
		m = is_wait(s) ? meeting_of(r, s) : NULL;
		if (!m)
			continue;
		lock = m->lock;
		if (last[lock] && last[lock]->object == s->object &&
		    r->ran[i] - ran[lock] < RIGHT_AFTER_NS) {
			last[lock]->flags |= STEP_DROPPED;
			m->vain++;
		}
		last[lock] = s;
		ran[lock] = r->ran[i];
	}
}

/* ---- meetings ---- */

/*
 * Whether threads meet at an object: each time, all that wait are woken, and they work before they come again. If there are
 * only two threads, one may hand over to the other instead; unless each waits for the other now and then, at the same place.
 */
static void judge_meetings(struct rules *r)
{
	for (uint32_t i = 0; i < r->nmeetings; i++) {
		struct meeting *m = &r->meetings[i];
		uint32_t waits = m->locked + m->unlocked;

		m->barrier = !m->lock && m->all > 3 * m->some && waits > 9 * m->vain &&
			     (2 * waits > 3 * m->all || (!m->lonely && !m->places));
	}
}

static void mark_locks(struct rules *r)
{
	for (uint32_t i = 0; i < r->all->n; i++) {
		struct step *s = &r->all->steps[i];
		struct meeting *m = NULL;

		if (is_wait(s))
			m = meeting_of(r, s);
		else if (s->kind == STEP_WAKE)
			m = meeting_of(r, wait_of(r, s));
		if (m && m->lock)
			s->flags |= STEP_LOCK;
	}
}

/* ---- queues ---- */

/* Whether the thread ran far longer before its first wait than between later ones. */
static bool fills(struct rules *r, uint32_t thread)
{
	uint8_t *known = &r->fills[thread];
	const struct step *steps = r->all->steps;
	uint64_t first = 0, later = 0, n = 0;

	if (*known)
		return *known == FILLS_YES;
	for (uint32_t i = r->all->threads[thread].first; i != REPLAY_NONE; i = steps[i].next) {
		if (!n && steps[i].kind == STEP_FORK)
			first = 0;
		else if (!n)
			first += steps[i].run;
		else
			later += steps[i].run;
		n += is_wait(&steps[i]) && !(steps[i].flags & STEP_LOCKED);
	}
	*known = n > FILLS && first > FILLS * (later / (n - 1)) ? FILLS_YES : FILLS_NO;
	return *known == FILLS_YES;
}

/* Index, or -ENOMEM. */
static int64_t pair_of(struct rules *r, uint32_t waiter, uint32_t waker)
{
	struct pair key = {.low = waiter < waker ? waiter : waker,
			   .high = waiter < waker ? waker : waiter,
			   .later = waiter,
			   .next = REPLAY_NONE,
			   .need = REPLAY_NONE};
	uint32_t i = QZ_FIND(&r->index, r->pairs, &key, high);

	if (i != REPLAY_NONE)
		return i;
	if (fills(r, waiter))
		key.later = waker;
	return QZ_INTERN(&r->index, &r->pairs, &r->npairs, &key, high);
}

/* Whether a wake-up may belong to a queue. */
static bool is_handed_over(const struct rules *r, const struct step *s)
{
	const struct meeting *m;

	if (s->kind != STEP_WAKE || wait_of(r, s)->flags & STEP_DROPPED)
		return false;
	m = meeting_of(r, wait_of(r, s));
	return !m || !m->lock;
}

static void note_pair(struct rules *r, struct pair *p, uint32_t wake)
{
	const struct step *s = &r->all->steps[wake];
	uint64_t wait_ran = r->ran[s->other], wake_ran = r->ran[wake];

	if (s->thread != p->later) {
		if (!p->began) {
			p->began = true;
			p->put_began = wake_ran;
			p->took_began = wait_ran;
		}
		return;
	}
	r->later[wake] = REPLAY_NONE;
	if (p->full)
		r->later[p->last] = wake;
	else
		p->next = wake;
	p->last = wake;
	if (!p->full) {
		p->full = true;
		p->put_first = wait_ran;
		p->took_first = wake_ran;
	}
	p->put_last = wait_ran;
	p->took_last = wake_ran;
}

/*
 * While the queue is full, both threads move the same number of items. So the length of the queue, as running time of the
 * later thread, follows from what both had run when it first was full.
 */
static void find_ahead(struct pair *p)
{
	double put, took, ahead;

	if (!p->full || p->put_last <= p->put_first)
		return;
	put = (double)(p->put_first - p->put_began);
	took = (double)p->took_first - (double)p->took_began;
	ahead = put * (double)(p->took_last - p->took_first) /
			(double)(p->put_last - p->put_first) -
		took;
	p->ahead = steps__ns(ahead);
}

static int find_pairs(struct rules *r)
{
	for (uint32_t i = 0; i < r->all->n; i++) {
		const struct step *s = &r->all->steps[i];
		int64_t pair;

		if (!is_handed_over(r, s))
			continue;
		pair = pair_of(r, wait_of(r, s)->thread, s->thread);
		if (pair < 0)
			return (int)pair;
		note_pair(r, &r->pairs[pair], i);
	}
	for (uint32_t i = 0; i < r->npairs; i++)
		find_ahead(&r->pairs[i]);
	return 0;
}

/* This WAKE has to come after that WAIT. Marking the first such WAKE is enough. */
static void tie(struct rules *r, uint32_t wake, uint32_t wait)
{
	struct step *steps = r->all->steps;

	if (wait == REPLAY_NONE || steps[wait].need != REPLAY_NONE)
		return;
	steps[wait].need = wake;
	steps[wake].need = wait;
}

/* The last wait for room to which the former thread must have come before this WAKE; or REPLAY_NONE. */
static uint32_t needed(const struct rules *r, struct pair *p, uint32_t wake)
{
	while (p->next != REPLAY_NONE && r->ran[p->next] + p->ahead <= r->ran[wake]) {
		p->need = r->all->steps[p->next].other;
		p->next = r->later[p->next];
	}
	return p->need;
}

static void mark_mutual(struct rules *r)
{
	for (uint32_t i = 0; i < r->all->n; i++) {
		const struct step *s = &r->all->steps[i];
		const struct meeting *m;
		struct pair *p;

		if (!is_handed_over(r, s))
			continue;
		m = meeting_of(r, wait_of(r, s));
		if (m && m->barrier) {
			tie(r, i, s->other);
			r->all->steps[i].flags |= goes_on(r, s) ? STEP_BURST : 0;
			continue;
		}
		p = &r->pairs[pair_of(r, wait_of(r, s)->thread, s->thread)];
		if (s->thread == p->later)
			tie(r, i, needed(r, p, i));
	}
}

static void sum_runs(struct rules *r)
{
	for (uint32_t t = 0; t < r->all->nthreads; t++) {
		uint64_t ran = 0;

		for (uint32_t i = r->all->threads[t].first; i != REPLAY_NONE;
		     i = r->all->steps[i].next)
			r->ran[i] = ran += r->all->steps[i].run;
	}
}

int rules__apply(struct replay_steps *all)
{
	struct rules r = {.all = all};
	int err = make_meetings(&r);

	r.ran = calloc(all->n + 1ul, sizeof(*r.ran));
	r.later = malloc((all->n + 1ul) * sizeof(*r.later));
	r.fills = calloc(all->nthreads + 1ul, sizeof(*r.fills));
	if (!r.ran || !r.later || !r.fills)
		err = -ENOMEM;
	if (!err) {
		sum_runs(&r);
		count_bursts(&r);
		count_lonely_wakers(&r);
		judge_locks(&r);
		for (uint32_t i = 0; i < all->nthreads; i++)
			drop_vain_waits(&r, &all->threads[i]);
		judge_meetings(&r);
		err = find_pairs(&r);
	}
	if (!err) {
		mark_locks(&r);
		mark_mutual(&r);
	}
	qz_hash_table__free(&r.index);
	free(r.pairs);
	free(r.later);
	free(r.fills);
	free(r.ran);
	free(r.meetings);
	return err;
}
