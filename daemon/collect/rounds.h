/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the captures of all processors at single instants into the profile: the scope and procedure of each, and whether it
 * spins.
 */
#ifndef QUARTZ_DAEMON_ROUNDS_H
#define QUARTZ_DAEMON_ROUNDS_H

#include "daemon/collect/module_rounds.h"
#include "daemon/attribution/stacks.h"
#include "daemon/spin/spin_tracker.h"

struct rounds;

/* Borrows all. NULL with errno ENOMEM. */
struct rounds *rounds__new(struct module_rounds *module_rounds, uint32_t rate, uint32_t processors,
			   struct spin_tracker *tracker, const struct stack_context *context);
void rounds__free(struct rounds *rounds);

/* Takes in the instants before `horizon`, up to which reports were processed; then aims anew. 0 or -ENOMEM. */
int rounds__drain(struct rounds *rounds, uint64_t horizon);

/* Takes in the last ones. */
int rounds__finish(struct rounds *rounds);

/* Adds what went wrong to the ledger. */
void rounds__ledger(struct rounds *rounds, struct qz_ledger *ledger);

#endif
