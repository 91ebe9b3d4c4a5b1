/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Candidates of --what-if: finds their code and their objects as they are sampled, passes them to the sampler and the
 * replay of the scheduler's log, and adds the length of the run without them to the profile.
 *
 * One thread at a time. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_CANDIDATES_H
#define QUARTZ_DAEMON_CANDIDATES_H

#include "daemon/attribution/address_cache.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/log/live.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/modules.h"
#include "daemon/waits/wait_drain.h"

struct candidates;

/* All borrowed. */
struct candidates_context {
	struct bpf_runtime *bpf;
	struct address_spaces *spaces;
	struct modules *modules;
	struct symbolizer *symbolizer;
	struct address_cache *addresses;
	struct wait_drain *waits;
	struct qz_profile *profile;
};

/* Names with commas between them, or "auto". NULL with errno ENOMEM, or EINVAL: not such a list. */
struct candidates *candidates__new(const struct candidates_context *context, const char *names);
void candidates__free(struct candidates *c);

/* Before the first drain. Borrowed. */
void candidates__use_log(struct candidates *c, struct live *live);

/* To be called after a drain: checks code that was sampled for the first time. "auto" chooses once a second has been sampled. */
int candidates__learn(struct candidates *c);

/* Soon after something was mapped: where the code is that is known. */
int candidates__publish(struct candidates *c);

/* After the scopes of the profile were refreshed: what is known of those that ended. scopes: see struct stack_context. */
int candidates__refresh(struct candidates *c, const uint32_t *scopes, uint32_t nscopes);

#endif
