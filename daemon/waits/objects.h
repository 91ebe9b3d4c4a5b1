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

/* Takes in what is new; about once a second, when it is `aging`, frees what nobody refers to any more. */
void objects__drain(struct objects *o, bool aging);

/*
 * Names what was taken in: after its stacks were placed. It asks the process and the symbolizer, and waits for
 * them. Not yet objects whose only waiters slept already when they were found, as the next one will tell more of
 * them, unless they are wanted.
 */
void objects__name(struct objects *o);

/*
 * A number is about to be looked up, whatever is known of it: it is named at the next objects__name(). spinner: the
 * node of a thread that spins on it, by which a word is called that was first seen so; 0: not known.
 */
void objects__want(struct objects *o, uint32_t number, uint32_t spinner);

/* The same for all that somebody waits for. */
void objects__want_waited(struct objects *o);

bool objects__has_name(const struct objects *o, uint32_t number);

/* The object of the profile for a number; QZ_NONE for 0 and for one that has no name. */
uint32_t objects__index(struct objects *o, uint32_t number);

/* The same for who only looks: the object is not taken to be in use for that. */
uint32_t objects__peek(const struct objects *o, uint32_t number);

/* Adds the figures of all objects that have names. */
void objects__settle(struct objects *o);

#endif
