/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the collector share; collector.h is for others. Every int is 0 or -errno. */
#ifndef QUARTZ_DAEMON_COLLECTOR_STATE_H
#define QUARTZ_DAEMON_COLLECTOR_STATE_H

#include "daemon/builder.h"
#include "daemon/collector.h"
#include "daemon/creation.h"
#include "daemon/ended.h"
#include "daemon/images.h"
#include "daemon/intake.h"
#include "daemon/modules.h"
#include "daemon/moments.h"
#include "daemon/page_figures.h"
#include "daemon/places.h"
#include "daemon/polling.h"
#include "daemon/reports.h"
#include "daemon/scopes.h"
#include "daemon/shares.h"
#include "daemon/spinning.h"
#include "daemon/stacks.h"
#include "daemon/storm.h"
#include "daemon/threads.h"
#include "daemon/undecided.h"
#include "daemon/verdicts.h"
#include "daemon/waits.h"
struct collector {
	struct engine *engine;
	struct sampler *sampler;
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct images *images;
	struct places *places;
	struct creation *creation;
	struct threads *threads;
	struct objname_context *names;
	struct waits *waits;
	struct shares *shares;
	struct page_figures *page_figures; /* NULL: no pages are in use */
	struct polling *polling;	   /* NULL: nor is a poller */
	struct moments *moments;	   /* NULL: nor are instants taken */
	struct verdicts *verdicts;
	struct spinning *spinning;
	struct stack_context stacks;
	struct qz_profile *profile;
	struct scopes *scopes;

	struct intake *intake;
	struct builder *builder; /* of unwind tables, in a thread of its own */
	struct reports *reports;
	uint64_t complete, processed; /* what was reported by then is in `reports`, was processed */
	uint64_t behind;	      /* from the latter to where the last tick should have come */
	uint64_t hurry;		      /* when others have waited for long enough; 0: nobody waits */
	struct undecided *undecided;
	struct ended *ended; /* NULL: not every process is a scope */
	struct pages *pages; /* NULL: none are in use */
	void (*before_fold)(void *context);
	void (*after_fold)(void *context);
	void *fold_context;

	struct engine_half half;
	bool half_waits;
	uint64_t turned; /* when the half that waits was taken */
	/* Of the rates: of the half that waits, of that in which is sampled, and to be. */
	uint32_t halvings_drained, halvings, halvings_wanted;

	uint64_t not_stored; /* samples whose stack had no room */
	uint64_t refreshed;  /* the `until` of a refresh in progress */
	uint64_t replaced;   /* when name_before was done */
	bool name_soon;	     /* what was sampled since, before there is a next one */
	uint64_t mapped;     /* when anything was last mapped, forked or executed */
	struct storm storm;

	bool frozen;
	struct qz_thread_event *kept; /* the threads that lived when the clock stopped */
	uint32_t nkept;
	uint64_t dropped; /* of these, for want of memory */
};

/* ---- collector_events.c ---- */

/* What the programs in the kernel tell of processes and threads, in order of time. */
void collector__process_event(struct collector *c, const struct qz_event *e);

/* Of a thread that lived when the clock stopped; the context is the collector. */
void collector__keep_thread(void *context, const struct qz_thread_event *e);

/* By the name that it has given itself, if any. */
void collector__name_thread(struct collector *c, const struct qz_thread_event *e);

/* ---- collector_half.c ---- */

/* Takes all out of the half of the sampler's tables that waits. */
int collector__drain_half(struct collector *c);

#endif
