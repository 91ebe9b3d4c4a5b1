/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tournament tree: the leaves are the next records of the processors; an inner node keeps the loser of the match between
 * the winners of its two sides. When the winner is taken, the next record of its processor plays the matches on the way to
 * the top: log2(processors) of them.
 */
#include "core/replay/merge.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * Ordered by time, then by processor (from 1). Records beyond the horizon come last; NO_ENTRANT, which nodes have while the
 * tree is filled, comes first. It is a single number, so that a match needs no branch, which would be unpredictable.
 */
typedef unsigned __int128 replay_entrant;

#define NO_ENTRANT ((replay_entrant)0)
#define NOT_DUE	   ((replay_entrant)UINT64_MAX << 64 | 1ull << 63)
#define READ_NEXT  4 /* records ahead; the processor's own prefetcher does not follow many rings */

struct replay_merge {
	uint32_t processors;
	uint64_t late, last;
	replay_entrant losers[]; /* [0]: the winner */
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

static replay_entrant replay_merge__next(const struct replay_span *spans, uint32_t cpu,
					 uint64_t horizon)
{
	const struct replay_span *s = &spans[cpu];
	uint64_t time;

	if (s->next == s->end)
		return NOT_DUE;
	__builtin_prefetch(&s->records[(s->next + READ_NEXT) & s->mask]);
	time = s->records[s->next & s->mask].time;
	return time <= horizon ? (replay_entrant)time << 64 | (cpu + 1) : NOT_DUE;
}

/* From the leaf of a processor to the top. */
static void replay_merge__play(struct replay_merge *m, uint32_t cpu, replay_entrant e)
{
	for (uint32_t i = (m->processors + cpu) / 2; i; i /= 2) {
		replay_entrant loser = m->losers[i];
		bool wins = loser < e;

		m->losers[i] = wins ? e : loser;
		e = wins ? loser : e;
	}
	m->losers[0] = e;
}

/* While the tree is filled, the first entrant at a node loses to NO_ENTRANT, which goes on. */
static void replay_merge__begin(struct replay_merge *m, const struct replay_span *spans,
				uint64_t horizon)
{
	m->losers[0] = NOT_DUE;
	for (uint32_t i = 1; i < m->processors; i++)
		m->losers[i] = NO_ENTRANT;
	for (uint32_t cpu = 0; cpu < m->processors; cpu++)
		replay_merge__play(m, cpu, replay_merge__next(spans, cpu, horizon));
}

int replay_merge__run(struct replay_merge *m, struct replay_span *spans, uint64_t horizon,
		      int (*call)(void *context, uint32_t cpu, const struct qz_log_record *record),
		      void *context)
{
	replay_merge__begin(m, spans, horizon);
	while (m->losers[0] < NOT_DUE) {
		uint64_t time = (uint64_t)(m->losers[0] >> 64);
		uint32_t cpu = (uint32_t)m->losers[0] - 1;
		struct replay_span *s = &spans[cpu];
		struct qz_log_record record = s->records[s->next & s->mask];
		int result;

		if (time < m->last)
			m->late++;
		else
			m->last = time;
		s->next++;
		result = call(context, cpu, &record);
		if (result)
			return result;
		replay_merge__play(m, cpu, replay_merge__next(spans, cpu, horizon));
	}
	return 0;
}
