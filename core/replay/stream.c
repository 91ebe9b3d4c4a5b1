// SPDX-License-Identifier: GPL-2.0-only
#include "core/replay/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/merge.h"
#include "core/util/order.h"
#include "core/util/vec.h"

/* Records of one processor that are not applied yet. */
struct pending {
	struct qz_log_record *records;
	uint64_t n, room;
};

struct loss {
	uint32_t cpu;
	bool off; /* none were written */
	uint64_t from, until;
};

struct replay_stream {
	struct replay *replay;
	struct replay_merge *merge;
	struct pending *pending; /* by processor */
	struct replay_span *spans;
	uint32_t processors;
	struct loss *losses; /* since the last horizon */
	uint32_t nlosses;
	uint64_t held; /* records, of all processors */
	uint64_t lost, refused;
};

struct replay_stream *replay_stream__new(struct replay *r, uint32_t processors)
{
	struct replay_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->replay = r;
	s->processors = processors;
	s->merge = replay_merge__new(processors);
	s->pending = calloc(processors ?: 1, sizeof(*s->pending));
	s->spans = calloc(processors ?: 1, sizeof(*s->spans));
	if (s->merge && s->pending && s->spans)
		return s;
	replay_stream__free(s);
	return NULL;
}

void replay_stream__free(struct replay_stream *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->pending && i < s->processors; i++)
		free(s->pending[i].records);
	free(s->pending);
	free(s->spans);
	free(s->losses);
	replay_merge__free(s->merge);
	free(s);
}

int replay_stream__put(struct replay_stream *s, uint32_t cpu, const struct qz_log_record *records,
		       uint64_t n)
{
	struct pending *p = &s->pending[cpu];

	if (p->n + n > p->room) {
		uint64_t room = 2 * (p->n + n);
		struct qz_log_record *more = realloc(p->records, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->records = more;
		p->room = room;
	}
	memcpy(p->records + p->n, records, n * sizeof(*records));
	p->n += n;
	s->held += n;
	return 0;
}

int replay_stream__lose(struct replay_stream *s, uint32_t cpu, uint64_t n, uint64_t from,
			uint64_t until)
{
	if (qz_array__reserve((void **)&s->losses, s->nlosses, sizeof(*s->losses)))
		return -ENOMEM;
	s->losses[s->nlosses++] = (struct loss) {cpu, !n, from, until};
	s->lost += n;
	return 0;
}

static int apply(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	struct replay_stream *s = context;
	int err = replay__apply(s->replay, cpu, record);

	/* an invalid record changes nothing, and is counted */
	s->refused += err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

/* Applies all records up to the time; the rest stays. */
static int merge(struct replay_stream *s, uint64_t horizon)
{
	int err;

	for (uint32_t i = 0; i < s->processors; i++)
		s->spans[i] = (struct replay_span) {.records = s->pending[i].records,
						    .mask = UINT64_MAX,
						    .end = s->pending[i].n};
	err = replay_merge__run(s->merge, s->spans, horizon, apply, s);
	for (uint32_t i = 0; i < s->processors; i++) {
		struct pending *p = &s->pending[i];
		uint64_t done = s->spans[i].next;

		if (done)
			memmove(p->records, p->records + done, (p->n - done) * sizeof(*p->records));
		p->n -= done;
		s->held -= done;
	}
	return err;
}

static int by_beginning(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return qz_order(x->from, y->from);
}

/* Losses are applied at their place among the records. */
int replay_stream__advance(struct replay_stream *s, uint64_t horizon)
{
	int err = 0;

	if (s->nlosses > 1)
		qsort(s->losses, s->nlosses, sizeof(*s->losses), by_beginning);
	for (uint32_t i = 0; !err && i < s->nlosses; i++) {
		const struct loss *l = &s->losses[i];

		err = merge(s, l->from < horizon ? l->from : horizon);
		if (!err)
			err = (l->off ? replay__turn_off : replay__lose)(s->replay, l->cpu, l->from,
									 l->until);
	}
	s->nlosses = 0;
	return err ?: merge(s, horizon);
}

uint64_t replay_stream__held(const struct replay_stream *s)
{
	return s->held;
}

uint64_t replay_stream__lost(const struct replay_stream *s)
{
	return s->lost;
}

uint64_t replay_stream__refused(const struct replay_stream *s)
{
	return s->refused;
}
