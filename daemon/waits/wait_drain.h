/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits, from BPF maps to the profile. The waits that a living thread has accumulated and not yet flushed to the
 * map, and the wait that it is in, are read from the thread at each refresh: those of the last refresh are
 * subtracted before.
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
struct wait_drain *wait_drain__new(struct bpf_runtime *bpf, struct threads *threads,
				   const struct stack_context *context,
				   struct object_naming_context *names);
void wait_drain__free(struct wait_drain *w);

/* Whether anything was in the tables of a scope in BPF at the last drain. */
bool wait_drain__use_scope(const struct wait_drain *w, uint32_t scope);

/* A scope in BPF has ended for good. What it lost, as its state says, becomes part of the profile. */
void wait_drain__retire_scope(struct wait_drain *w, uint32_t scope,
			      const struct qz_scope_state *state);

/* The same of the scopes that are marked: their stacks lose their numbers. */
void wait_drain__forget(struct wait_drain *w, const bool *marked);

/*
 * Takes what is new out of the tables; some time later, when what was mapped by then is known, asks for the addresses of
 * its stacks, and when they are resolved, adds it. About once a second it is `aging`: what has not been used for some
 * such times is freed.
 */
void wait_drain__take(struct wait_drain *w, bool aging);
void wait_drain__want(struct wait_drain *w);
void wait_drain__add(struct wait_drain *w);

/* A thread has ended: the waits that it had accumulated. Added with the next drain. */
void wait_drain__ended(struct wait_drain *w, const struct qz_thread_event *event);

/* A refresh: subtracts what the last one added, then adds the waits of each living thread. */
void wait_drain__begin_refresh(struct wait_drain *w);
void wait_drain__alive(struct wait_drain *w, const struct qz_thread_event *event,
		       uint64_t scope_began, uint64_t until);

/* Samples carry objects, too; these are wanted before wait_drain__add(), which names them. */
struct objects *wait_drain__objects(const struct wait_drain *w);

/* During a refresh: the waits of a scope for which there was no room, as waits of unknown cause. */
void wait_drain__lost(struct wait_drain *w, uint32_t scope, const struct qz_scope_state *state);
/* Of all scopes, at the last refresh: wake-ups for which there was no room. */
uint64_t wait_drain__wakings_lost(const struct wait_drain *w);

/* The difference in ns between the times until woken in the profile and those that BPF counted; 0 after the run. */
uint64_t wait_drain__woken_unaccounted(const struct wait_drain *w);

/* Waits for which there was no room, of all scopes. */
uint64_t wait_drain__count_lost(const struct wait_drain *w);

#endif
