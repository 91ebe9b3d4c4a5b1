/* SPDX-License-Identifier: GPL-2.0-only */
/* What each scope has of the tables that all fill; see bpf/share.bpf.h. */
#ifndef QUARTZ_DAEMON_SHARES_H
#define QUARTZ_DAEMON_SHARES_H

#include "daemon/engine.h"

struct shares;

/* Borrows the engine. NULL with errno ENOMEM. */
struct shares *shares__new(struct engine *engine);
void shares__free(struct shares *s);

/* The tables have been harvested: what was freed is nobody's any more. */
void shares__harvested(struct shares *s);

#endif
