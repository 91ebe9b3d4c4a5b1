/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pollers count becomes part of the profile. The main thread's side of shm_sampler.h: in step
 * with the drains of the kernel's samples.
 */
#ifndef QUARTZ_DAEMON_SHM_POLLING_H
#define QUARTZ_DAEMON_SHM_POLLING_H

#include "daemon/shm/shm_sampler.h"
#include "daemon/attribution/stacks.h"
#include "daemon/attribution/threads.h"

struct shm_polling;

/* All borrowed. NULL with errno ENOMEM. */
struct shm_polling *shm_polling__new(struct shm_sampler *poller, struct threads *threads,
				     const struct stack_context *context);
void shm_polling__free(struct shm_polling *p);

/* Together with the kernel sampler's buffers. */
void shm_polling__swap_buffers(struct shm_polling *p);

/* Asks for the addresses of what was counted before the swap; address_cache__resolve() then finds them. */
void shm_polling__want(struct shm_polling *p);

/* Before the kernel's samples are added to the profile, or scopes of it folded. */
void shm_polling__begin(struct shm_polling *p);

/* A kernel's sample of a thread that has a slot was added, with this leaf below this node. */
void shm_polling__leaf(struct shm_polling *p, struct thread *thread, uint32_t below, uint32_t leaf,
		       const struct stack *stack);

/* After that: takes in what was counted. */
void shm_polling__drain(struct shm_polling *p);

/* Joins the two for an estimate. 0 or -errno. */
int shm_polling__join(struct shm_polling *p);

void shm_polling__ledger(const struct shm_polling *p, struct qz_ledger *ledger);

#endif
