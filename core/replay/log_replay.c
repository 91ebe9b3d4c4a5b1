// SPDX-License-Identifier: GPL-2.0-only
#include "core/replay/log_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/log_profile.h"
#include "core/replay/merge.h"

/* Records of one processor that wait for the horizon. */
struct pending {
	struct qz_log_record *records;
	uint64_t n, room;
};

struct loss {
	uint32_t cpu;
	uint64_t from, until;
};

struct reading {
	struct qz_log_file *file;
	const struct qz_log_header *header;
	struct log_replay *to;
	struct replay_merge *merge;
	struct pending *pending; /* by processor */
	struct replay_span *spans;
	struct loss *losses; /* since the last horizon */
	uint32_t nlosses;
};

static int keep_records(struct reading *r, uint32_t cpu, const struct qz_log_record *records,
			uint64_t n)
{
	struct pending *p = &r->pending[cpu];

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
	return 0;
}

static int keep_loss(struct reading *r, const struct qz_log_block *b)
{
	struct loss *more = realloc(r->losses, (r->nlosses + 1ul) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	r->losses = more;
	r->losses[r->nlosses++] = (struct loss) {b->number, b->from, b->until};
	r->to->overwritten += b->n;
	return 0;
}

static int apply(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	struct reading *r = context;
	int err = replay__apply(r->to->replay, cpu, record);

	/* what cannot be a record changes nothing, and is among the odd ones */
	r->to->refused += err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

/* All that happened up to a time is applied; the rest stays. */
static int merge(struct reading *r, uint64_t horizon)
{
	int err;

	for (uint32_t i = 0; i < r->header->processors; i++)
		r->spans[i] = (struct replay_span) {.records = r->pending[i].records,
						    .mask = UINT64_MAX,
						    .end = r->pending[i].n};
	err = replay_merge__run(r->merge, r->spans, horizon, apply, r);
	for (uint32_t i = 0; i < r->header->processors; i++) {
		struct pending *p = &r->pending[i];
		uint64_t done = r->spans[i].next;

		if (done)
			memmove(p->records, p->records + done, (p->n - done) * sizeof(*p->records));
		p->n -= done;
	}
	return err;
}

static int by_beginning(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Each loss has its place among the records. */
static int advance(struct reading *r, uint64_t horizon)
{
	int err = 0;

	if (r->nlosses > 1)
		qsort(r->losses, r->nlosses, sizeof(*r->losses), by_beginning);
	for (uint32_t i = 0; !err && i < r->nlosses; i++) {
		const struct loss *l = &r->losses[i];

		err = merge(r, l->from < horizon ? l->from : horizon);
		err = err ?: replay__lose(r->to->replay, l->cpu, l->from, l->until);
	}
	r->nlosses = 0;
	return err ?: merge(r, horizon);
}

static int take(struct reading *r, const struct qz_log_block *b,
		const struct qz_log_record *records)
{
	int64_t scope;

	switch (b->kind) {
	case QZ_LOG_RECORDS:
		return keep_records(r, b->number, records, b->n);
	case QZ_LOG_LOST:
		return keep_loss(r, b);
	case QZ_LOG_SCOPE:
		scope = replay__open_scope(r->to->replay, b->number, b->n & QZ_LOG_FOLLOWS,
					   b->until);
		if (scope >= 0 && b->n & QZ_LOG_COMMAND)
			r->to->command = (uint32_t)scope;
		return scope < 0 ? (int)scope : 0;
	case QZ_LOG_HORIZON:
		r->to->until = b->until > r->to->until ? b->until : r->to->until;
		return advance(r, b->until);
	}
	r->to->until = b->until;
	return advance(r, b->until); /* QZ_LOG_END: what comes behind it was after the end */
}

/* 0, also where the file is cut: what there is was taken. */
static int read_all(struct reading *r, bool *complete)
{
	const struct qz_log_record *records;
	struct qz_log_block block;
	int more = 1, err = 0;

	while (!err && more > 0) {
		more = qz_log_file__next(r->file, &block, &records);
		if (more >= 0)
			err = take(r, &block, records);
	}
	*complete = !more;
	if (err || more == -ENOMEM || (more < 0 && !r->to->until))
		return err ?: more;
	return 0;
}

static int replay_file(struct reading *r, struct log_replay *to, bool *complete)
{
	const struct replay_options options = {.processors = r->header->processors,
					       .online = r->header->online,
					       .every_process = r->header->every_process};
	int err;

	to->replay = replay__new(&options);
	r->merge = replay_merge__new(r->header->processors);
	r->pending = calloc(r->header->processors, sizeof(*r->pending));
	r->spans = calloc(r->header->processors, sizeof(*r->spans));
	if (!to->replay || !r->merge || !r->pending || !r->spans)
		return -ENOMEM;
	err = read_all(r, complete);
	replay__advance(to->replay, to->until);
	return err;
}

struct qz_profile *log_replay__profile(struct qz_log_file *file, const struct qz_log_header *header,
				       struct log_replay_figures *figures)
{
	struct log_replay to = {.header = header, .command = REPLAY_NONE};
	struct reading r = {.file = file, .header = header, .to = &to};
	struct qz_profile *p = NULL;
	int err = replay_file(&r, &to, &figures->complete);

	if (!err)
		err = log_profile__make(&to, &p);
	if (!err) {
		figures->counts = *replay__counts(to.replay);
		figures->counts.impossible += to.refused;
		figures->overwritten = to.overwritten;
	}
	for (uint32_t i = 0; r.pending && i < header->processors; i++)
		free(r.pending[i].records);
	free(r.pending);
	free(r.spans);
	free(r.losses);
	replay_merge__free(r.merge);
	replay__free(to.replay);
	errno = -err;
	return p;
}
