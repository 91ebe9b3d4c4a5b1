/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code waits: asks for the verdict on the addresses that are sampled, and lets the sampler know
 * those that are. What the sampler learns holds from a turn of its tables on, so that the samples of
 * one half were all taken with the same knowledge.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_SPINNING_H
#define QUARTZ_DAEMON_SPINNING_H

#include <stdbool.h>

#include "daemon/engine.h"
#include "daemon/images.h"
#include "daemon/modules.h"
#include "daemon/verdicts.h"

struct spinning;

/* Borrows all four. NULL with errno ENOMEM. */
struct spinning *spinning__new(struct engine *engine, struct images *images,
			       struct modules *modules, struct verdicts *verdicts);
void spinning__free(struct spinning *s);

/* Looks at where each processor was sampled last, so that a wait is known soon. 0 or -ENOMEM. */
int spinning__look(struct spinning *s);

/* Asks for the verdict on a stack, a used slot of a half; judge() then has it. 0 or -ENOMEM. */
int spinning__want(struct spinning *s, const struct engine_half *half,
		   const struct qz_stack_slot *slot);
int spinning__judge(struct spinning *s);

enum spin_sight {
	SPIN_WORKS,
	SPIN_WAITS, /* by its address alone */
	SPIN_TOLD,  /* it may wait or pass, and the sampler has told which */
	SPIN_OPEN,  /* it may, and the sampler did not know yet that this is to be told */
};

/* What a thread with this stack does, in the half that the last turn has given; *loop for the latter two. */
enum spin_sight spinning__sight(struct spinning *s, const struct engine_half *half,
				const struct qz_stack_slot *slot, uint32_t *loop);

/* Takes down what the sampler has told of a loop. */
void spinning__told(struct spinning *s, uint32_t loop, bool spinning, uint64_t count);

/* Whether enough is told of a loop for share(): how many of so many samples there, in that proportion. */
bool spinning__knows(const struct spinning *s, uint32_t loop);
uint64_t spinning__share(struct spinning *s, uint32_t loop, uint64_t count);

/* Whether there is something for the sampler to learn; a turn, followed by teach(), should come soon. */
bool spinning__hurries(const struct spinning *s);
void spinning__teach(struct spinning *s);

#endif
