/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings the records of several processors' logs into one order, that of their times. Pure; not thread-safe.
 */
#ifndef QUARTZ_CORE_REPLAY_MERGE_H
#define QUARTZ_CORE_REPLAY_MERGE_H

#include <stdint.h>

#include "quartz/log.h"

/* Unread records of one processor: numbers next to end - 1, each at index number & mask. */
struct replay_span {
	const struct qz_log_record *records;
	uint64_t mask;
	uint64_t next, end;
};

struct replay_merge;

/* For as many processors. NULL: no memory. */
struct replay_merge *replay_merge__new(uint32_t processors);
void replay_merge__free(struct replay_merge *m);

/*
 * Calls for each record whose time is not after the horizon, oldest first; of equal times, those of the lower processor
 * first; those of one processor in their order. `next` of the spans is advanced. A record is copied before the call, so
 * that it does not change if the ring is written to. Ends early if a call returns other than 0, and returns that.
 */
int replay_merge__run(struct replay_merge *m, struct replay_span *spans, uint64_t horizon,
		      int (*call)(void *context, uint32_t cpu, const struct qz_log_record *record),
		      void *context);

/* Records that were older than one before them, of this or an earlier run. */
uint64_t replay_merge__late(const struct replay_merge *m);

#endif
