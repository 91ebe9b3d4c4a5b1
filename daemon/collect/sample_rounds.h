/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of one buffer of the sampler, classified by the present knowledge of the code, and joined to rounds.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SAMPLE_ROUNDS_H
#define QUARTZ_DAEMON_SAMPLE_ROUNDS_H

#include "core/model/profile.h"
#include "daemon/collect/round_join.h"
#include "daemon/attribution/stacks.h"
#include "daemon/attribution/threads.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/kernel/perf_sampler.h"
#include "daemon/lines/line_samples.h"
#include "daemon/spin/asking.h"
#include "daemon/spin/spin_tracker.h"
#include "daemon/target/address_spaces.h"

struct sample_rounds;

struct sample_rounds_context {
	struct bpf_runtime *bpf;
	struct address_spaces *spaces;
	struct threads *threads;
	struct spin_tracker *tracker;
	struct asking *asking;
	struct line_samples *lines;
};

/* Samples that are equal. */
struct joined_sample {
	uint64_t key; /* see struct qz_sample_record */
	uint32_t object;
	uint32_t line; /* that is shared, of line_samples.h, or LINE_NONE */
	uint32_t count;
	uint32_t doubtful; /* of these, see struct round_answer */
	uint32_t in_block; /* of these, see struct qz_sample */
	uint16_t busy, machine, machine_busy;
	bool spinning;
};

/* Borrows what the context has. NULL with errno ENOMEM. */
struct sample_rounds *sample_rounds__new(const struct sample_rounds_context *context);
void sample_rounds__free(struct sample_rounds *r);

/*
 * Takes the records of a buffer, sampled by a schedule up to `now`, whose stacks the spin tracker has resolved. They are in
 * the order of keys, and valid until the next call. Returns the number or -ENOMEM.
 */
int64_t sample_rounds__take(struct sample_rounds *r, const struct bpf_runtime_buffer *buffer,
			    const struct timer_schedule *schedule, uint64_t now,
			    struct joined_sample **samples);

/*
 * The answers of that buffer, until the next call, with their results: in the order of rounds and then of scopes. The place of
 * each is the number of its stack in the buffer. Sets the number.
 */
const struct round_answer *sample_rounds__answers(const struct sample_rounds *r, uint32_t *n);

/* Whether the timers of the last buffer were out of phase. */
bool sample_rounds__are_off(const struct sample_rounds *r);

/* How many rounds there were, and what they lacked. */
void sample_rounds__ledger(const struct sample_rounds *r, struct qz_ledger *ledger);

#endif
