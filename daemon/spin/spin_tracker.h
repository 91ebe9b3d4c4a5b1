/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds code that waits: has sampled addresses classified, and passes the results to the sampler. These take effect with a
 * swap of the sampler's tables, so that all samples of one buffer were taken with the same knowledge.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SPIN_TRACKER_H
#define QUARTZ_DAEMON_SPIN_TRACKER_H

#include <stdbool.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/spin/around.h"
#include "daemon/spin/spin_classify.h"

struct spin_tracker;

/* Borrows all. NULL with errno ENOMEM. */
struct spin_tracker *spin_tracker__new(struct bpf_runtime *bpf, struct address_spaces *spaces,
				       struct spin_classify *classes);
void spin_tracker__free(struct spin_tracker *s);

/* Reads where each processor was sampled last, so that a wait is known soon. 0 or -ENOMEM. */
int spin_tracker__read_processors(struct spin_tracker *s);

/* Asks for what a stack does, a used slot of a buffer; resolve() then has it. 0 or -ENOMEM. */
int spin_tracker__want(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
		       const struct qz_stack_slot *slot);

/* Takes in how often places were sampled in a buffer of the sampler's, whose stacks are asked for next. */
void spin_tracker__count(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer);

/* As want(), but not for user code whose place was sampled only once. */
int spin_tracker__want_repeated(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
				const struct qz_stack_slot *slot);
int spin_tracker__resolve(struct spin_tracker *s);

/* What a thread does, by its stack. */
struct spin_verdict {
	enum {
		SPIN_WORKS,
		SPIN_WAITS,    /* by its address alone */
		SPIN_MAY_WAIT, /* it may wait or pass */
	} kind;
	bool was_taught;  /* the sampler knew this and has decided */
	uint16_t written; /* registers that the loop writes */
	uint64_t loop;	  /* which one, 0: of the kernel */
	struct around around;
};

/* With this stack, in the buffer that the last swap has given. */
struct spin_verdict spin_tracker__judge(struct spin_tracker *s,
					const struct bpf_runtime_buffer *buffer,
					const struct qz_stack_slot *slot);

/*
 * The memory that a thread waits for with this stack, see symbolizer/spin/last_access.h. shift: from addresses of code to
 * memory. false: none, or the address has been sampled only once.
 */
bool spin_tracker__operand(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
			   const struct qz_stack_slot *slot, struct qz_operand *operand,
			   uint64_t *shift);

/* Whether there are results for the sampler; a swap, followed by teach(), should come soon. */
bool spin_tracker__hurries(const struct spin_tracker *s);
void spin_tracker__teach(struct spin_tracker *s);

#endif
