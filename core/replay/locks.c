/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates how long locks are held. If a thread waits for a lock and wakes another thread when it releases it, the log
 * has both ends. If a thread finds the lock free, the log has nothing. But how often threads find it held tells how long
 * the others hold it.
 */
#include <stdlib.h>

#include "core/replay/steps.h"

#define LEAST	8 /* sections of which the log has both ends */
#define LENGTHS 64
#define STEPS	50 /* of the bisection */

/* Sections with about the same length: a power of two. */
struct sections {
	uint32_t n;
	double ran, left,
		slept; /* ns in these sections: running, running without the candidate, asleep */
};

struct lock {
	uint32_t waits, threads, last; /* last: thread + 1 that was counted last */
	struct sections lengths[LENGTHS];
};

static void add_section(const struct replay_steps *all, const struct rerun_options *o,
			struct lock *lock, uint32_t wait)
{
	struct sections one = {.n = 1}, *to;

	for (uint32_t i = all->steps[wait].next; i != REPLAY_NONE; i = all->steps[i].next) {
		const struct step *s = &all->steps[i];

		one.ran += s->run;
		one.slept += s->late;
		one.left += s->run * (1 - (double)o->shares[i] / (1u << o->speed));
		if (s->kind == STEP_SLEEP)
			one.slept += (double)step__sleep(s);
		if (s->kind == STEP_WAIT && s->object == all->steps[wait].object)
			return; /* no thread waited for the lock when it was released */
		if (s->kind != STEP_WAKE || all->steps[s->other].object != all->steps[wait].object)
			continue;
		to = &lock->lengths[63 - __builtin_clzll(steps__ns(one.ran + one.slept) | 1)];
		to->n++;
		to->ran += one.ran;
		to->left += one.left;
		to->slept += one.slept;
		return;
	}
}

/*
 * If a thread releases the lock and takes it again, both unseen, its section seems too long. So sections that are longer than
 * most do not count.
 */
static struct sections usual(const struct lock *lock)
{
	struct sections sum = {0};
	uint32_t n = 0, end = LENGTHS;

	for (uint32_t i = 0; i < LENGTHS; i++)
		n += lock->lengths[i].n;
	for (uint32_t i = 0; i < end; i++) {
		const struct sections *s = &lock->lengths[i];

		sum.n += s->n;
		sum.ran += s->ran;
		sum.left += s->left;
		sum.slept += s->slept;
		if (end == LENGTHS && sum.n * 4 >= n)
			end = i + 2 < LENGTHS ? i + 2 : LENGTHS;
	}
	return sum;
}

/*
 * How often threads take a lock in a given time, and how often they find it held, from the mean times for which they hold
 * it and do without it. A thread that arrives sees the lock as the others alone would use it (mean value analysis; Reiser
 * and Lavenberg, Journal of the ACM 27(2), 1980).
 */
static double finds_held(uint32_t threads, double hold, double away, double time, double *times)
{
	double queue = 0, rate = 0, held = 0;

	for (uint32_t n = 1; n <= threads; n++) {
		double stay = hold * (1 + queue);

		held = rate * hold;
		rate = n / (stay + away);
		queue = rate * stay;
	}
	*times = rate * time;
	return *times * held;
}

static double hold_of(const struct lock *lock, double time)
{
	struct sections s = usual(lock);
	double ns, low = 0, high = time, times = 0;

	if (s.n < LEAST || lock->threads < 2)
		return 0;
	ns = (s.ran + s.slept) / s.n;
	for (int i = 0; i < STEPS; i++) {
		double away = (low + high) / 2;
		double held = finds_held(lock->threads, ns, away, time, &times);

		if (held > lock->waits)
			low = away;
		else
			high = away;
	}
	if (times < lock->waits)
		times = lock->waits;
	return times * (s.left + s.slept) / s.n;
}

static bool is_candidate(const struct replay_steps *all, const struct rerun_options *o,
			 uint32_t object)
{
	return object < all->nobjects && all->candidate_of[object] == o->candidate + 1;
}

double locks__hold(const struct replay_steps *all, const struct rerun_options *o, uint64_t kept_ns)
{
	uint32_t n = 0;
	struct lock *locks;
	double most = 0, hold;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->steps[i].kind == STEP_WAIT && all->steps[i].flags & STEP_LOCK &&
		    all->steps[i].object >= n)
			n = all->steps[i].object + 1;
	locks = calloc(n + 1ul, sizeof(*locks));
	if (!locks)
		return -1;
	for (uint32_t i = 0; i < all->n; i++) {
		const struct step *s = &all->steps[i];
		struct lock *lock;

		if (s->kind != STEP_WAIT || !(s->flags & STEP_LOCK) ||
		    all->threads[s->thread].scope != o->scope)
			continue;
		if (s->flags & STEP_DROPPED)
			continue;
		lock = &locks[s->object];
		lock->waits++;
		add_section(all, o, lock, i);
	}
	for (uint32_t t = 0; t < all->nthreads; t++)
		for (uint32_t i = all->threads[t].first; i != REPLAY_NONE; i = all->steps[i].next) {
			const struct step *s = &all->steps[i];

			if (s->kind != STEP_WAIT || !(s->flags & STEP_LOCK) ||
			    locks[s->object].last == t + 1)
				continue;
			locks[s->object].last = t + 1;
			locks[s->object].threads++;
		}
	for (uint32_t i = 0; i < n; i++) {
		hold = is_candidate(all, o, i) ? 0 : hold_of(&locks[i], (double)kept_ns);
		most = hold > most ? hold : most;
	}
	free(locks);
	return most;
}
