/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of waits, by their number: taken out of the kernel's table as they come, named once.
 *
 * One thread at a time. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_WAIT_STACKS_H
#define QUARTZ_DAEMON_WAIT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/attribution/stacks.h"
#include "daemon/attribution/threads.h"

struct wait_stacks;

/* Borrows all. NULL without memory. */
struct wait_stacks *wait_stacks__new(const struct bpf_runtime *bpf,
				     const struct stack_context *context);
void wait_stacks__free(struct wait_stacks *s);

/*
 * Takes out what is new. About once a second it is `aging`: when the table is more than half full, stacks of
 * processes that are gone since WAIT_STACKS_GRACE such drains lose their numbers, which others get.
 */
#define WAIT_STACKS_GRACE 10
void wait_stacks__drain(struct wait_stacks *s, bool aging);

/* Scopes in BPF that are marked have ended for good: their stacks lose their numbers. */
void wait_stacks__forget(struct wait_stacks *s, const bool *marked);

/* Whether a number that was reported with an image long ago still has the same stack. */
bool wait_stacks__lasts(struct wait_stacks *s, uint32_t number, uint32_t image);

/* Asks for the addresses of what was taken out; when they are resolved, wait_stacks__place(). */
void wait_stacks__want(struct wait_stacks *s);
void wait_stacks__place(struct wait_stacks *s);

/* The cause of a number (enum qz_wait_cause) in words, as an index of the profile's; or -errno. */
int64_t wait_stacks__cause(struct wait_stacks *s, uint32_t number);

/* The leaf of a number's stack for a thread, or the thread's own node when it is not known. */
int64_t wait_stacks__node(struct wait_stacks *s, uint32_t number, struct thread *thread);

#endif
