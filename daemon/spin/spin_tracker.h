/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code waits: has the addresses classified that are sampled, and lets the sampler know those that are. What the
 * sampler learns holds from a swap of its tables on, so that the samples of one half were all taken with the same
 * knowledge.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SPIN_TRACKER_H
#define QUARTZ_DAEMON_SPIN_TRACKER_H

#include <stdbool.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/modules.h"
#include "daemon/spin/spin_classify.h"

struct spin_tracker;

/* Borrows all four. NULL with errno ENOMEM. */
struct spin_tracker *spin_tracker__new(struct bpf_runtime *engine, struct address_spaces *images,
				       struct modules *modules, struct spin_classify *classes);
void spin_tracker__free(struct spin_tracker *s);

/* Reads where each processor was sampled last, so that a wait is known soon. 0 or -ENOMEM. */
int spin_tracker__read_processors(struct spin_tracker *s);

/* Asks for what a stack does, a used slot of a half; resolve() then has it. 0 or -ENOMEM. */
int spin_tracker__want(struct spin_tracker *s, const struct bpf_runtime_half *half,
		       const struct qz_stack_slot *slot);
int spin_tracker__resolve(struct spin_tracker *s);

/* What a thread does, by its stack. */
struct spin_state {
	enum {
		SPIN_WORKS,
		SPIN_WAITS,  /* by its address alone */
		SPIN_MARKED, /* it may wait or pass, and the sampler has marked which */
		SPIN_OPEN, /* it may, and the sampler did not know yet that this is to be marked */
	} kind;
	uint32_t loop; /* of the latter two */
};

/* With this stack, in the half that the last swap has given. */
struct spin_state spin_tracker__state(struct spin_tracker *s, const struct bpf_runtime_half *half,
				      const struct qz_stack_slot *slot);

/* Counts what the sampler has marked of a loop. */
void spin_tracker__count(struct spin_tracker *s, uint32_t loop, bool spinning, uint64_t count);

/* Whether enough is known of a loop for share(): how many of so many samples there, in that proportion. */
bool spin_tracker__knows(const struct spin_tracker *s, uint32_t loop);
uint64_t spin_tracker__share(struct spin_tracker *s, uint32_t loop, uint64_t count);

/* Whether there is something for the sampler to learn; a swap, followed by teach(), should come soon. */
bool spin_tracker__hurries(const struct spin_tracker *s);
void spin_tracker__teach(struct spin_tracker *s);

#endif
