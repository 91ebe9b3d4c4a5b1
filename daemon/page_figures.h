/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What page sets tell besides stacks: names of threads, exact numbers of calls between procedures,
 * and what the programs could not tell for want of room. Also ends page sets, after their last
 * figures were read.
 *
 * Main thread only.
 */
#ifndef QUARTZ_DAEMON_PAGE_FIGURES_H
#define QUARTZ_DAEMON_PAGE_FIGURES_H

#include "core/merge.h"
#include "core/profile.h"
#include "daemon/engine.h"
#include "daemon/pages.h"
#include "daemon/selfreport.h"

struct page_figures;

/* All borrowed. NULL with errno ENOMEM. */
struct page_figures *page_figures__new(struct pages *pages, struct engine *engine,
				       const struct stack_context *context);
void page_figures__free(struct page_figures *f);

/* Says which scope of the profile one of the engine is. */
int page_figures__folded(struct page_figures *f, const struct qz_maps *maps);
void page_figures__add_scope(struct page_figures *f, uint32_t scope, uint32_t index);

/* Brings the numbers of calls in the profile up to date. */
void page_figures__refresh(struct page_figures *f);

/* To be called after each drain of samples: frees what no sample can refer to any more. */
void page_figures__drained(struct page_figures *f);

/* Adds events to the ledger: overflows of profile stacks, and what found no room. */
void page_figures__ledger(struct page_figures *f, struct qz_ledger *ledger);

/*
 * The name that a thread gave itself, or an empty one. False when it has no slot, or the slot is
 * another thread's by now.
 */
bool page_figures__thread_name(struct page_figures *f, const struct qz_thread_event *thread,
			       char name[QZ_THREAD_NAME_LENGTH]);

#endif
