// SPDX-License-Identifier: GPL-2.0-only
#include "core/replay/log_replay.h"

#include <errno.h>

#include "core/replay/log_profile.h"
#include "core/replay/stream.h"
#include "core/replay/what_if.h"

struct reading {
	struct qz_log_file *file;
	const struct qz_log_header *header;
	struct log_replay *to;
	struct replay_stream *stream;
};

static int advance(struct reading *r, uint64_t horizon)
{
	return replay_stream__advance(r->stream, horizon);
}

static int take(struct reading *r, const struct qz_log_block *b,
		const struct qz_log_record *records)
{
	int64_t scope;

	switch (b->kind) {
	case QZ_LOG_RECORDS:
		return replay_stream__put(r->stream, b->number, records, b->n);
	case QZ_LOG_LOST:
		return replay_stream__lose(r->stream, b->number, b->n, b->from, b->until);
	case QZ_LOG_SCOPE:
		scope = replay__open_scope(r->to->replay, b->number, b->n & QZ_LOG_FOLLOWS,
					   b->until);
		if (scope >= 0 && b->n & QZ_LOG_AGAIN)
			replay__restart_scope(r->to->replay, (uint32_t)scope, b->until);
		if (scope >= 0 && b->n & QZ_LOG_COMMAND)
			r->to->command = (uint32_t)scope;
		return scope < 0 ? (int)scope : 0;
	case QZ_LOG_HORIZON:
		r->to->until = b->until > r->to->until ? b->until : r->to->until;
		return advance(r, b->until);
	}
	r->to->until = b->until;
	return advance(r, b->until); /* QZ_LOG_END: later records do not count */
}

/* 0, also if the file is cut off: what it has was applied. */
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

/* The replay learns of a candidate at its first sample: see daemon/what_if. */
static void know_candidates(void *context, uint32_t cpu, const struct qz_log_record *record,
			    const struct replay_moment *moment)
{
	struct log_replay *to = context;
	uint32_t met = record->cause & ~to->candidates;

	(void)cpu;
	(void)moment;
	to->candidates |= met;
	for (; met; met &= met - 1)
		replay__know_candidate(to->replay, (uint32_t)__builtin_ctz(met));
}

static int replay_file(struct reading *r, struct log_replay *to, bool *complete)
{
	const struct replay_options options = {.processors = r->header->processors,
					       .online = r->header->online,
					       .every_process = r->header->every_process,
					       .what_if = true,
					       .calls = {to, know_candidates, NULL}};
	int err;

	to->replay = replay__new(&options);
	r->stream = to->replay ? replay_stream__new(to->replay, r->header->processors) : NULL;
	if (!r->stream)
		return -ENOMEM;
	err = read_all(r, complete);
	replay__advance(to->replay, to->until);
	to->overwritten = replay_stream__lost(r->stream);
	to->refused = replay_stream__refused(r->stream);
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
	replay_stream__free(r.stream);
	replay__free(to.replay);
	errno = -err;
	return p;
}
