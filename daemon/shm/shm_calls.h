/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact numbers of calls between procedures, as instrumented programs count them in their page sets
 * (quartz/page.h), become those of the profile.
 *
 * Main thread only.
 */
#ifndef QUARTZ_DAEMON_SHM_CALLS_H
#define QUARTZ_DAEMON_SHM_CALLS_H

#include "daemon/attribution/shm_sets.h"
#include "daemon/attribution/stacks.h"

struct shm_calls;

/* All borrowed, and context->instrumented is there. NULL with errno ENOMEM. */
struct shm_calls *shm_calls__new(struct shm_sets *sets, const struct stack_context *context);
void shm_calls__free(struct shm_calls *c);

/* Takes in the last numbers of a page set that is going to be freed. */
void shm_calls__close(struct shm_calls *c, struct page *page);

/* Sets the numbers of the profile to those of all page sets, as they are now. */
void shm_calls__refresh(struct shm_calls *c);

/* Pairs of procedures that were left out of the last refresh for want of room, or as impossible. */
uint64_t shm_calls__refused(const struct shm_calls *c);

#endif
