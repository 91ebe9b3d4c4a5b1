/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of equal samples of profile stacks: one thread counts, another reads what was counted in
 * the buffer that is not in use, as with the tables of the sampler in the kernel.
 */
#ifndef QUARTZ_DAEMON_POLL_TABLE_H
#define QUARTZ_DAEMON_POLL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/attribution/shm_reader.h"

#define POLL_SAMPLES (1u << 14) /* of a buffer */
#define POLL_IDS     (1u << 18)

/* What equal samples are equal in, besides the stack. */
struct poll_key {
	uint32_t scope, image, serial;
	uint32_t level, busy;
	uint32_t spinning;
	uint32_t task;
	uint32_t base; /* entries of the stack that are not the task's */
	uint64_t object;
};

struct poll_sample {
	uint64_t hash; /* 0: free */
	struct poll_key key;
	uint32_t count;
	uint32_t n, first; /* ids */
};

struct poll_buffer {
	struct poll_sample samples[POLL_SAMPLES];
	uint32_t ids[POLL_IDS];
	uint32_t used, ids_used;
	uint64_t lost; /* no room */
};

/* Adds one to the samples of this key and stack. False: no room, counted. */
bool poll_buffer__count(struct poll_buffer *buffer, const struct poll_key *key, const uint32_t *ids,
			uint32_t n);

/* Forgets all but what was lost. */
void poll_buffer__clear(struct poll_buffer *buffer);

#endif
