/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that ask the kernel, again and again, whether something has come, and do not wait for it: loops over sockets,
 * polls without a timeout and words of memory, whose code has no shape of its own. That nothing has come shows in what the
 * kernel does not do: it neither copies data out nor puts the thread to sleep.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_ASKING_H
#define QUARTZ_DAEMON_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/spin_rules.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/threads.h"

struct asking;

struct asking_context {
	const struct address_cache *addresses;
	const struct spin_rules *rules;
	const struct qz_profile *profile;
};

/* What a thread does by its stack, for this. */
enum asking_stack {
	ASKING_WORKS, /* code in user mode, other calls, what is not known */
	ASKING_ASKS,  /* a call that asks, and has nothing yet */
	ASKING_GETS,  /* one that hands out what has come */
	ASKING_ASIDE, /* the way into a call: it tells nothing */
};

/* Borrows what the context has. NULL with errno ENOMEM. */
struct asking *asking__new(const struct asking_context *context);
void asking__free(struct asking *a);

/* Of a used slot of a buffer whose addresses are resolved. */
enum asking_stack asking__of(struct asking *a, const struct bpf_runtime_buffer *buffer,
			     const struct qz_stack_slot *slot);

/*
 * Takes in the next sample of a thread, in the order of time, and returns whether it waits. woken: struct qz_sample_record.
 * A thread waits from its 24th sample in such calls on, while it gets nothing, does not sleep, and is seen in
 * these calls more often than elsewhere.
 */
bool asking__takes(struct thread *t, enum asking_stack what, uint16_t woken);

#endif
