/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that have ended, where every process is a scope. Once nothing of one is on its way any more,
 * its number in the engine is free for another process; its figures stay in the profile. When those of all
 * ended ones take more memory than is wanted, the least ones, by processor time, are put together as
 * "other (ended)": sums stay as they are.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_ENDED_H
#define QUARTZ_DAEMON_ENDED_H

#include <stdint.h>

#include "core/profile.h"
#include "daemon/engine.h"
#include "daemon/images.h"
#include "daemon/moments.h"
#include "daemon/page_figures.h"
#include "daemon/polling.h"
#include "daemon/scopes.h"
#include "daemon/threads.h"
#include "daemon/undecided.h"
#include "daemon/waits.h"

struct ended;

/* Who knows of scopes and threads. All borrowed; the last four may be NULL. */
struct ended_context {
	struct engine *engine;
	struct qz_profile *profile;
	struct scopes *scopes;
	struct threads *threads;
	struct images *images;
	struct waits *waits;
	struct undecided *undecided;
	struct page_figures *page_figures;
	struct pages *pages;
	struct polling *polling;
	struct moments *moments;
	/* before entities of the profile get other indices, and after it; NULL: nobody wants to know */
	void (*before)(void *context);
	void (*after)(void *context);
	void *context;
};

/* `bytes`: what ended processes may take. NULL with errno ENOMEM. */
struct ended *ended__new(const struct engine *engine, uint64_t bytes);
void ended__free(struct ended *e);

/*
 * After each drain of the sampler's tables. 0 or -errno: without memory, nothing is folded, or what was
 * measured cannot be relied on any more (-ENOTRECOVERABLE).
 */
int ended__settle(struct ended *e, const struct ended_context *c);

/* Processes that were put together so far. */
uint64_t ended__folded(const struct ended *e);

#endif
