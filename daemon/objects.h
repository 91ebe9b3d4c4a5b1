/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Synchronization objects: from the kernel side's table, where a number stands for one as long as
 * something refers to it, to the objects of the profile, which have names.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_OBJECTS_H
#define QUARTZ_DAEMON_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/merge.h"
#include "daemon/engine.h"
#include "daemon/objname.h"
#include "daemon/stacks.h"
#include "daemon/threads.h"
#include "daemon/wait_stacks.h"

/* Objects of a profile. What comes beyond is put together under one name. */
#define MAX_OBJECTS 4096

struct objects;

/* Borrows all. NULL without memory. */
struct objects *objects__new(const struct engine *engine, struct threads *threads,
			     const struct stack_context *context, struct wait_stacks *stacks,
			     struct objname_context *names);
void objects__free(struct objects *o);

/* Tells which scope of the profile one of the engine's is. */
void objects__add_scope(struct objects *o, uint32_t scope, uint32_t index);

/* Whether a slot was of a scope of the engine at the last harvest. */
bool objects__use_scope(const struct objects *o, uint32_t scope);

/* Scopes of the profile were folded (core/merge.h): nothing in use is theirs. */
void objects__folded(struct objects *o, const struct qz_maps *maps);

/* Takes in what is new, frees what nobody refers to any more. */
void objects__harvest(struct objects *o);

/*
 * Names what was taken in: after its stacks were placed. Not yet objects whose only waiters slept
 * already when they were found, as the next one will tell more of them.
 */
void objects__name(struct objects *o);

bool objects__has_name(const struct objects *o, uint32_t number);

/*
 * The object of the profile for a number, named now if it was not; QZ_NONE for 0 and for one that
 * was not taken in. spinner: the node of a thread that spins on it, by which a word is called that was
 * first seen so; 0: not known.
 */
uint32_t objects__index(struct objects *o, uint32_t number, uint32_t spinner);

/* Adds the figures of all objects that have names, with their queues as they stand, up to `until`. */
void objects__settle(struct objects *o, uint64_t until);

#endif
