/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pollers count becomes part of the profile. The main thread's side of poller.h: in step
 * with the drains of the kernel's samples.
 */
#ifndef QUARTZ_DAEMON_POLLING_H
#define QUARTZ_DAEMON_POLLING_H

#include "daemon/poller.h"
#include "daemon/stacks.h"
#include "daemon/threads.h"

struct polling;

/* All borrowed. NULL with errno ENOMEM. */
struct polling *polling__new(struct poller *poller, struct threads *threads,
			     const struct stack_context *context);
void polling__free(struct polling *p);

/* Together with the turn of the kernel sampler's tables. */
void polling__turn(struct polling *p);

/* Asks for the places of what was counted before the turn; places__resolve() then finds them. */
void polling__want(struct polling *p);

/* Before the kernel's samples are added to the profile. */
void polling__begin(struct polling *p);

/* A kernel's sample of a thread that has a slot was added, with this leaf below this node. */
void polling__leaf(struct polling *p, struct thread *thread, uint32_t below, uint32_t leaf,
		   const struct stack *stack);

/* After that: takes in what was counted. */
void polling__drain(struct polling *p);

/* Joins the two for an estimate. 0 or -errno. */
int polling__join(struct polling *p);

/*
 * Scopes of the profile are to be folded (core/merge.h), and were. 0 or -ENOMEM: what was polled of
 * programs is lost.
 */
void polling__fold(struct polling *p);
int polling__folded(struct polling *p, const struct qz_maps *maps);

void polling__ledger(const struct polling *p, struct qz_ledger *ledger);

#endif
