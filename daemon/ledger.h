/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of the samples that were due, and what else was irregular: from all who count it. */
#ifndef QUARTZ_DAEMON_LEDGER_H
#define QUARTZ_DAEMON_LEDGER_H

#include "core/profile.h"
#include "daemon/builder.h"
#include "daemon/engine.h"
#include "daemon/moments.h"
#include "daemon/page_figures.h"
#include "daemon/polling.h"
#include "daemon/sampler.h"
#include "daemon/symbolizer.h"
#include "daemon/waits.h"

/* All borrowed; the last three may be NULL. */
struct ledger_sources {
	const struct engine *engine;
	struct sampler *sampler;
	const struct symbolizer *symbolizer;
	const struct builder *builder;
	const struct waits *waits;
	struct page_figures *page_figures;
	struct polling *polling;
	struct moments *moments;
	uint64_t until;		  /* of processors that are idle */
	uint64_t not_stored;	  /* samples whose stack had no room */
	uint64_t reports_dropped; /* for want of memory */
	uint64_t processes_folded;
};

/* How long all processors together have been idle. */
uint64_t ledger__idle_ns(const struct engine *engine, uint64_t until);

void ledger__refresh(struct qz_ledger *l, const struct ledger_sources *from);

#endif
