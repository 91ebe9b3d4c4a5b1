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

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/waits/object_naming.h"
#include "daemon/attribution/stacks.h"
#include "daemon/attribution/threads.h"
#include "daemon/waits/wait_stacks.h"

/* Objects of a profile. What comes beyond is put together under one name. */
#define MAX_OBJECTS 4096

struct objects;

/* Borrows all. NULL without memory. */
struct objects *objects__new(const struct bpf_runtime *bpf, struct threads *threads,
			     const struct stack_context *context, struct wait_stacks *stacks,
			     struct object_naming_context *names);
void objects__free(struct objects *o);

/* Whether a slot was of a scope in BPF at the last drain. */
bool objects__use_scope(const struct objects *o, uint32_t scope);

/* Takes in new objects; with `aging`, about once a second, frees those without a reference. */
void objects__drain(struct objects *o, bool aging);

/*
 * Names the objects that were taken in, after their stacks were placed. Asks the process and the symbolizer, and waits for
 * them. An object whose only waiters slept already when they were found is left unnamed until its next waiter, which will
 * show more of it, unless it is wanted.
 */
void objects__name(struct objects *o);

/*
 * Asks for an object's name, whatever is known of it: the next objects__name() names it. spinner: the node of a thread that
 * spins on it, after which a word is named that was first seen so; 0: not known.
 */
void objects__want(struct objects *o, uint32_t number, uint32_t spinner);

/* The same for all objects that a thread waits for. */
void objects__want_waited(struct objects *o);

bool objects__has_name(const struct objects *o, uint32_t number);

/* The object of the profile for a number; QZ_NONE for 0 and for one that has no name. */
uint32_t objects__index(struct objects *o, uint32_t number);

/* The same for who only looks: the object is not taken to be in use for that. */
uint32_t objects__peek(const struct objects *o, uint32_t number);

/* Adds the figures of all objects that have names. */
void objects__settle(struct objects *o);

#endif
