/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/parking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/frames.h"

/* Share of the elapsed time that threads sleep there, of all together, and of the wake-ups that are theirs: at least. */
#define LEAST_WAITED 0.1
#define LEAST_WOKEN  0.5

/* Of waits and of wake-ups: what most of them have. */
#define MOST 0.8

/* Marks the threads that run the phase. */
static void mark_threads(const struct qz_report *r, uint32_t phase, bool *runs)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope == r->scope && s->thread != QZ_NONE && !runs[s->thread])
			runs[s->thread] = qz_frames__contain(
				(struct qz_frames) {.profile = p, .node = s->node}, phase);
	}
}

/* Several words under one name, none of which had a queue of two; of a kind that can be a part of a lock. */
static bool is_parked_at(const struct qz_object *o)
{
	if (o->kind != QZ_OBJECT_OTHER && o->kind != QZ_OBJECT_CONDITION &&
	    o->kind != QZ_OBJECT_SEMAPHORE)
		return false;
	for (uint32_t n = 2; n < QZ_QUEUE_LENGTHS; n++)
		if (o->queue_ns[n])
			return false;
	return o->grouped > 1;
}

static uint32_t find_words(const struct qz_report *r, const bool *runs, uint64_t *waited)
{
	const struct qz_profile *p = r->profile;
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->object == QZ_NONE || w->thread == QZ_NONE || !runs[w->thread] ||
		    !qz_scope__covers(p, r->scope, w->scope) ||
		    !is_parked_at(&p->objects[w->object]))
			continue;
		waited[w->object] += w->blocked_ns;
		if (best == QZ_NONE || waited[w->object] > waited[best])
			best = w->object;
	}
	return best;
}

/* The share of wake-ups at an object that such threads did. */
static double share_woken(const struct qz_profile *p, uint32_t object, const bool *runs)
{
	uint64_t all = 0, theirs = 0;

	for (uint32_t i = 0; i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (w->object != object)
			continue;
		all += w->count;
		theirs += w->thread != QZ_NONE && runs[w->thread] ? w->count : 0;
	}
	return all ? (double)theirs / (double)all : 0;
}

/* Adds an amount to each procedure of a stack, once. */
static void add_stack(const struct qz_profile *p, uint32_t node, uint64_t amount, uint64_t *sums)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame, last = QZ_NONE;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (frame != last)
			sums[frame] += amount;
		last = frame;
	}
}

/* The outermost procedure is where threads start, a library's is its own, and "[unknown]" says nothing. */
static bool is_place(const struct qz_profile *p, struct qz_frames after, uint32_t procedure)
{
	uint32_t caller = qz_frames__next(&after);

	return caller != QZ_NONE && p->procedures[caller].kind == QZ_PROCEDURE &&
	       p->procedures[procedure].kind == QZ_PROCEDURE &&
	       p->procedures[procedure].name[0] != '[' &&
	       !strstr(p->procedures[procedure].module, ".so");
}

/* Of the stack where most was waited, the innermost procedure that most waits and most wake-ups have. */
static int find_place(const struct qz_profile *p, struct qz_parking *parking)
{
	uint64_t *waits = calloc((size_t)p->nprocedures + 1, sizeof(*waits));
	uint64_t *wakes = calloc((size_t)p->nprocedures + 1, sizeof(*wakes));
	uint64_t waited = 0, woken = 0, most = 0;
	struct qz_frames frames = {.profile = p};
	uint32_t frame;

	for (uint32_t i = 0; waits && wakes && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->object != parking->object)
			continue;
		add_stack(p, w->node, w->blocked_ns, waits);
		waited += w->blocked_ns;
		frames.node = w->blocked_ns > most ? w->node : frames.node;
		most = w->blocked_ns > most ? w->blocked_ns : most;
	}
	for (uint32_t i = 0; waits && wakes && i < p->nwakings; i++) {
		if (p->wakings[i].object != parking->object)
			continue;
		add_stack(p, p->wakings[i].node, p->wakings[i].count, wakes);
		woken += p->wakings[i].count;
	}
	while (waits && wakes && (frame = qz_frames__next(&frames)) != QZ_NONE)
		if (parking->place == QZ_NONE && (double)waits[frame] >= MOST * (double)waited &&
		    (double)wakes[frame] >= MOST * (double)woken && is_place(p, frames, frame))
			parking->place = frame;
	free(waits);
	free(wakes);
	return waits && wakes ? 0 : -ENOMEM;
}

int qz_parking__find(const struct qz_report *r, uint32_t phase, struct qz_parking *parking)
{
	const struct qz_profile *p = r->profile;
	bool *runs = calloc((size_t)p->nthreads + 1, sizeof(*runs));
	uint64_t *waited = calloc((size_t)p->nobjects + 1, sizeof(*waited));
	uint32_t words;
	int err = runs && waited ? 0 : -ENOMEM;

	*parking = (struct qz_parking) {.object = QZ_NONE, .place = QZ_NONE};
	if (err)
		goto out;
	mark_threads(r, phase, runs);
	words = find_words(r, runs, waited);
	if (words == QZ_NONE || (double)waited[words] < LEAST_WAITED * (double)r->elapsed_ns)
		goto out;
	parking->waited_ns = waited[words];
	parking->woken = share_woken(p, words, runs);
	if (parking->woken >= LEAST_WOKEN) {
		parking->object = words;
		err = find_place(p, parking);
	}
out:
	free(runs);
	free(waited);
	return err;
}
