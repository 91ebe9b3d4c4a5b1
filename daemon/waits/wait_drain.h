/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes waits from the log to the profile, with their stacks and objects, which are in BPF maps. Waits that have not ended
 * are added at each refresh, after those of the last refresh were subtracted.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_WAIT_DRAIN_H
#define QUARTZ_DAEMON_WAIT_DRAIN_H

#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/log/live.h"
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

/* A scope in BPF has ended for good. */
void wait_drain__retire_scope(struct wait_drain *w, const struct qz_scope_state *state);

/* The same of the scopes that are marked: their stacks lose their numbers. */
void wait_drain__forget(struct wait_drain *w, const bool *marked);

/*
 * Three steps: take new entries out of the tables; later, when mappings up to then are known, ask for the addresses of
 * their stacks; and when these are resolved, add the waits. `aging`, about once a second: entries that were not used for
 * some such calls are freed.
 */
void wait_drain__take(struct wait_drain *w, bool aging);
void wait_drain__want(struct wait_drain *w);
void wait_drain__add(struct wait_drain *w);

/* What was not in the tables, after wait_drain__take. Added with the next drain. */
void wait_drain__put(struct wait_drain *w, const struct live_wait *row);

/* During a refresh: what is not to be added yet, but is part of the profile until the next refresh. */
void wait_drain__open(struct wait_drain *w, const struct live_wait *row);

/* A refresh: subtracts what the last one added. */
void wait_drain__begin_refresh(struct wait_drain *w);

/* Samples carry objects, too; these are wanted before wait_drain__add(), which names them. */
struct objects *wait_drain__objects(const struct wait_drain *w);

/* During a refresh: a scope as it is. */
void wait_drain__count(struct wait_drain *w, const struct qz_scope_state *state);

/* The difference in ns between the times until woken in the profile and those that the log tells of; 0 after the run. */
uint64_t wait_drain__woken_unaccounted(const struct wait_drain *w);

/* Waits for which there was no room, of all scopes. */
uint64_t wait_drain__count_lost(const struct wait_drain *w);

#endif
