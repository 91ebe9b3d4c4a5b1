/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree of losers: the leaves are the processors' next records; each inner node has the loser of a match between the
 * winners below it. A record that is taken is replaced by the next one of its processor, which plays the matches on its
 * way up: one for each doubling of the number of processors.
 */
#include "core/replay/merge.h"

#include <stdbool.h>
#include <stdlib.h>

enum entrant_rank {
	ENTRANT_NOBODY, /* wins each match, while the tree is filled */
	ENTRANT_HERE,
	ENTRANT_ENDED, /* nothing is left up to the horizon */
};

struct replay_entrant {
	uint64_t time;
	uint32_t cpu;
	enum entrant_rank rank;
};

struct replay_merge {
	uint32_t processors;
	uint64_t late, last;
	struct replay_entrant losers[]; /* [0]: the winner */
};

struct replay_merge *replay_merge__new(uint32_t processors)
{
	struct replay_merge *m =
		calloc(1, sizeof(*m) + ((size_t)processors + 1) * sizeof(*m->losers));

	if (m)
		m->processors = processors;
	return m;
}

void replay_merge__free(struct replay_merge *m)
{
	free(m);
}

uint64_t replay_merge__late(const struct replay_merge *m)
{
	return m->late;
}

static struct replay_entrant replay_merge__next(const struct replay_span *spans, uint32_t cpu,
						uint64_t horizon)
{
	const struct replay_span *s = &spans[cpu];
	struct replay_entrant e = {.cpu = cpu, .rank = ENTRANT_ENDED};

	if (s->next == s->end)
		return e;
	e.time = s->records[s->next & s->mask].time;
	if (e.time <= horizon)
		e.rank = ENTRANT_HERE;
	return e;
}

static bool is_before(const struct replay_entrant *a, const struct replay_entrant *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->time != b->time ? a->time < b->time : a->cpu < b->cpu;
}

/* From its leaf to the top. */
static void replay_merge__play(struct replay_merge *m, struct replay_entrant e)
{
	for (uint32_t i = (m->processors + e.cpu) / 2; i; i /= 2) {
		struct replay_entrant loser = m->losers[i];

		if (is_before(&loser, &e)) {
			m->losers[i] = e;
			e = loser;
		}
	}
	m->losers[0] = e;
}

/* The first one that comes to a node meets nobody there, who wins and goes on. */
static void replay_merge__begin(struct replay_merge *m, const struct replay_span *spans,
				uint64_t horizon)
{
	m->losers[0].rank = ENTRANT_ENDED;
	for (uint32_t i = 1; i < m->processors; i++)
		m->losers[i] = (struct replay_entrant) {.rank = ENTRANT_NOBODY};
	for (uint32_t cpu = 0; cpu < m->processors; cpu++)
		replay_merge__play(m, replay_merge__next(spans, cpu, horizon));
}

int replay_merge__run(struct replay_merge *m, struct replay_span *spans, uint64_t horizon,
		      int (*call)(void *context, uint32_t cpu, const struct qz_log_record *record),
		      void *context)
{
	const struct replay_entrant *winner = &m->losers[0];

	replay_merge__begin(m, spans, horizon);
	while (winner->rank == ENTRANT_HERE) {
		uint32_t cpu = winner->cpu;
		struct replay_span *s = &spans[cpu];
		struct qz_log_record record = s->records[s->next & s->mask];
		int result;

		if (winner->time < m->last)
			m->late++;
		else
			m->last = winner->time;
		s->next++;
		result = call(context, cpu, &record);
		if (result)
			return result;
		replay_merge__play(m, replay_merge__next(spans, cpu, horizon));
	}
	return 0;
}
