/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A buffer between the logs of several processors and a replay: it keeps records until all earlier ones have come, then
 * applies them in order. Pure; not thread-safe. Functions return 0 or -ENOMEM.
 */
#ifndef QUARTZ_CORE_REPLAY_STREAM_H
#define QUARTZ_CORE_REPLAY_STREAM_H

#include <stdint.h>

#include "core/replay/replay.h"

struct replay_stream;

/* Borrows the replay. NULL: no memory. */
struct replay_stream *replay_stream__new(struct replay *r, uint32_t processors);
void replay_stream__free(struct replay_stream *s);

/* Appends records of a processor. */
int replay_stream__put(struct replay_stream *s, uint32_t cpu, const struct qz_log_record *records,
		       uint64_t n);

/*
 * n records of a processor are missing, between two times; 0: none were written. To be called before the next
 * replay_stream__advance.
 */
int replay_stream__lose(struct replay_stream *s, uint32_t cpu, uint64_t n, uint64_t from,
			uint64_t until);

/* Number of records that are not applied yet. */
uint64_t replay_stream__held(const struct replay_stream *s);

/* To be called when all records up to the time have come: applies them. */
int replay_stream__advance(struct replay_stream *s, uint64_t horizon);

/* The number of missing records; and of invalid ones, which changed nothing. */
uint64_t replay_stream__lost(const struct replay_stream *s);
uint64_t replay_stream__refused(const struct replay_stream *s);

#endif
