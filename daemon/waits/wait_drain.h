/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits, from the tables of the kernel side to those of the profile. What a thread has gathered and
 * not yet put down, and the wait that it is in, come with the thread: as long as it lives they are
 * taken back before each refresh and added anew.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_WAIT_DRAIN_H
#define QUARTZ_DAEMON_WAIT_DRAIN_H

#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/waits/object_naming.h"
#include "daemon/attribution/stacks.h"
#include "daemon/attribution/threads.h"

struct wait_drain;

/* Borrows all. NULL without memory. */
struct wait_drain *wait_drain__new(struct bpf_runtime *engine, struct threads *threads,
				   const struct stack_context *context,
				   struct object_naming_context *names);
void wait_drain__free(struct wait_drain *w);

/* Whether anything was in the tables of a scope of the engine at the last drain. */
bool wait_drain__use_scope(const struct wait_drain *w, uint32_t scope);

/* A scope of the engine has ended for good, as it stands: what it lost is part of the profile. */
void wait_drain__retire_scope(struct wait_drain *w, uint32_t scope,
			      const struct qz_scope_state *state);

/* The same of the scopes that are marked: their stacks lose their numbers. */
void wait_drain__forget(struct wait_drain *w, const bool *marked);

/*
 * Takes what is new out of the tables; some time later, when what was mapped by then is known, asks for the places of
 * its stacks, and when they are resolved, adds it. About once a second it is `aging`: what has not been used for some
 * such times is freed.
 */
void wait_drain__take(struct wait_drain *w, bool aging);
void wait_drain__want(struct wait_drain *w);
void wait_drain__add(struct wait_drain *w);

/* A thread has ended: what it has gathered. Added with the next drain. */
void wait_drain__ended(struct wait_drain *w, const struct qz_thread_event *event);

/* A refresh: takes back what was added by the last one, then adds that of each living thread. */
void wait_drain__begin_refresh(struct wait_drain *w);
void wait_drain__alive(struct wait_drain *w, const struct qz_thread_event *event,
		       uint64_t scope_began, uint64_t until);

/* The object of the profile that a sample carries: objects__want(), which comes before wait_drain__drain(); objects__index(). */
void wait_drain__want_object(struct wait_drain *w, uint32_t number, uint32_t spinner);
uint32_t wait_drain__object(struct wait_drain *w, uint32_t number);
bool wait_drain__has_object(const struct wait_drain *w, uint32_t number); /* and it has a name */

/* What a scope lost for want of room, as waits of unknown cause. During a refresh. */
void wait_drain__objects(struct wait_drain *w, uint64_t until); /* their queues, up to then */
void wait_drain__lost(struct wait_drain *w, uint32_t scope, const struct qz_scope_state *state);
/*
 * Of all scopes, by the last refresh: wake-ups lost for want of room; and by how much the times
 * until woken of the profile and those that the kernel side counted differ, in ns: of a run that is
 * over, not at all.
 */
uint64_t wait_drain__wakings_lost(const struct wait_drain *w);
uint64_t wait_drain__woken_unaccounted(const struct wait_drain *w);
uint64_t wait_drain__count_lost(const struct wait_drain *w);

#endif
