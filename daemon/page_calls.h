/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact numbers of calls between procedures, as instrumented programs count them in their page sets
 * (quartz/page.h), become those of the profile.
 *
 * Main thread only.
 */
#ifndef QUARTZ_DAEMON_PAGE_CALLS_H
#define QUARTZ_DAEMON_PAGE_CALLS_H

#include "core/merge.h"
#include "daemon/pages.h"
#include "daemon/stacks.h"

struct page_calls;

/* All borrowed, and context->selfreport is there. NULL with errno ENOMEM. */
struct page_calls *page_calls__new(struct pages *pages, const struct stack_context *context,
				   uint32_t max_scopes);
void page_calls__free(struct page_calls *c);

/* Says which scope of the profile one of the engine is. */
void page_calls__add_scope(struct page_calls *c, uint32_t scope, uint32_t index);

/* Scopes of the profile were folded (core/merge.h). 0 or -ENOMEM: what ended programs told is lost. */
int page_calls__folded(struct page_calls *c, const struct qz_maps *maps);

/* Takes in the last numbers of a page set that is going to be freed. */
void page_calls__close(struct page_calls *c, struct page *page);

/* Sets the numbers of the profile to those of all page sets, as they are now. */
void page_calls__refresh(struct page_calls *c);

/* Pairs of procedures that were left out of the last refresh for want of room, or as impossible. */
uint64_t page_calls__refused(const struct page_calls *c);

#endif
