/* SPDX-License-Identifier: GPL-2.0-only */
/* What all processors were doing at single instants, into the profile: whose, where, and who spins. */
#ifndef QUARTZ_DAEMON_MOMENTS_H
#define QUARTZ_DAEMON_MOMENTS_H

#include "daemon/engine.h"
#include "daemon/instants.h"
#include "daemon/stacks.h"
#include "daemon/verdicts.h"

struct moments;

/* Borrows all. NULL with errno ENOMEM. */
struct moments *moments__new(struct instants *instants, uint32_t rate, struct engine *engine,
			     struct verdicts *verdicts, const struct stack_context *context);
void moments__free(struct moments *m);

/* Tells where the profile has a scope of the engine. */
void moments__add_scope(struct moments *m, uint32_t scope, uint32_t index);

/* Takes in the instants before `horizon`, up to which reports were processed; then aims anew. 0 or -ENOMEM. */
int moments__drain(struct moments *m, uint64_t horizon);

/* Takes in the last ones. */
int moments__finish(struct moments *m);

/* Adds what went wrong to the ledger. */
void moments__ledger(struct moments *m, struct qz_ledger *ledger);

#endif
