/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of each step's run is a candidate's, from samples. */
#include <string.h>

#include "core/replay/steps.h"

#define PRIOR                                                                                      \
	16 /* so many samples of a segment's own count as much as all samples of such segments */

static void add(struct step_segment *g, const struct step *samples, uint32_t candidate)
{
	g->samples[candidate] += samples->other;
	g->in[candidate] += samples->object >> candidate & 1 ? samples->other : 0;
}

static bool knows(const struct replay_steps *all, uint32_t i, uint32_t candidate)
{
	return all->steps[i].kind == STEP_SAMPLES && i >= all->known_from[candidate];
}

void shares__learn(struct replay_steps *all)
{
	for (uint32_t i = 0; i < all->nsegments; i++) {
		memset(all->segments[i].samples, 0, sizeof(all->segments[i].samples));
		memset(all->segments[i].in, 0, sizeof(all->segments[i].in));
	}
	for (uint32_t i = 0; i < all->n; i++) {
		const struct step *s = &all->steps[i];
		struct step_segment *g = &all->segments[s->segment];

		for (uint32_t k = 0; k < all->candidates; k++) {
			if (!knows(all, i, k))
				continue;
			add(g, s, k);
			if (g->general != s->segment)
				add(&all->segments[g->general], s, k);
		}
	}
}

static float blend(float in, float samples, float prior, float known)
{
	float weight = prior < PRIOR ? prior : PRIOR;

	return samples + weight > 0 ? (in + weight * known) / (samples + weight) : 0;
}

/* The candidate's share, from segments of the same length and from all between these places. Negative: no samples. */
static float known_of(const struct replay_steps *all, const struct step_segment *g,
		      uint32_t candidate)
{
	const struct step_segment *general = &all->segments[g->general];
	float all_samples = (float)general->samples[candidate];

	if (!general->samples[candidate])
		return -1;
	return blend((float)g->in[candidate], (float)g->samples[candidate], all_samples,
		     (float)general->in[candidate] / all_samples);
}

/* The steps of one segment, from `first` to `last`. */
static float share_of(const struct replay_steps *all, uint32_t first, uint32_t last,
		      uint32_t candidate)
{
	const struct step_segment *g = &all->segments[all->steps[last].segment];
	float known = known_of(all, g, candidate), samples = 0, in = 0;

	if (known < 0)
		return 0;
	for (uint32_t i = first;; i = all->steps[i].next) {
		const struct step *s = &all->steps[i];

		if (knows(all, i, candidate)) {
			samples += (float)s->other;
			in += s->object >> candidate & 1 ? (float)s->other : 0;
		}
		if (i == last)
			break;
	}
	return blend(in, samples, (float)all->segments[g->general].samples[candidate], known);
}

void shares__find(const struct replay_steps *all, uint32_t candidate, float *shares)
{
	for (uint32_t t = 0; t < all->nthreads; t++) {
		uint32_t first = all->threads[t].first;

		for (uint32_t i = first; i != REPLAY_NONE; i = all->steps[i].next) {
			uint32_t next = all->steps[i].next;
			float share;

			if (!(all->steps[i].flags & STEP_BOUND) && next != REPLAY_NONE)
				continue;
			share = share_of(all, first, i, candidate);
			for (uint32_t k = first; k != next; k = all->steps[k].next)
				shares[k] = share;
			first = next;
		}
	}
}
