/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits, from the tables of the kernel side to those of the profile. What a thread has gathered and
 * not yet put down, and the wait that it is in, come with the thread: as long as it lives they are
 * taken back before each refresh and added anew.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_WAITS_H
#define QUARTZ_DAEMON_WAITS_H

#include <stdint.h>

#include "core/merge.h"
#include "daemon/engine.h"
#include "daemon/objname.h"
#include "daemon/stacks.h"
#include "daemon/threads.h"

struct waits;

/* Borrows all. NULL without memory. */
struct waits *waits__new(struct engine *engine, struct threads *threads,
			 const struct stack_context *context, struct objname_context *names);
void waits__free(struct waits *w);

/* Tells which scope of the profile one of the engine's is. */
void waits__add_scope(struct waits *w, uint32_t scope, uint32_t index);

/* Whether anything was in the tables of a scope of the engine at the last harvest. */
bool waits__use_scope(const struct waits *w, uint32_t scope);

/* A scope of the engine has ended for good, as it stands: what it lost is part of the profile. */
void waits__retire_scope(struct waits *w, uint32_t scope, const struct qz_scope_state *state);

/* The same of the scopes that are marked: their stacks lose their numbers. */
void waits__forget(struct waits *w, const bool *marked);

/* Scopes of the profile were folded (core/merge.h). */
void waits__folded(struct waits *w, const struct qz_maps *maps);

/*
 * Takes what is new out of the tables, about once a second; some time later, when what was mapped by
 * then is known, asks for the places of its stacks, and when they are resolved, adds it.
 */
void waits__harvest(struct waits *w);
void waits__want(struct waits *w);
void waits__drain(struct waits *w);

/* A thread has ended: what it has gathered. Added with the next drain. */
void waits__ended(struct waits *w, const struct qz_thread_event *event);

/* A refresh: takes back what was added by the last one, then adds that of each living thread. */
void waits__begin_refresh(struct waits *w);
void waits__alive(struct waits *w, const struct qz_thread_event *event, uint64_t scope_began,
		  uint64_t until);

/* The object of the profile that a sample carries: objects__index. */
uint32_t waits__object(struct waits *w, uint32_t number, uint32_t spinner);
bool waits__has_object(const struct waits *w, uint32_t number); /* and it has a name */

/* What a scope lost for want of room, as waits of unknown cause. During a refresh. */
void waits__objects(struct waits *w, uint64_t until); /* their queues, up to then */
void waits__lost(struct waits *w, uint32_t scope, const struct qz_scope_state *state);
/*
 * Of all scopes, by the last refresh: wake-ups lost for want of room; and by how much the times
 * until woken of the profile and those that the kernel side counted differ, in ns: of a run that is
 * over, not at all.
 */
uint64_t waits__wakings_lost(const struct waits *w);
uint64_t waits__woken_unaccounted(const struct waits *w);
uint64_t waits__count_lost(const struct waits *w);

#endif
