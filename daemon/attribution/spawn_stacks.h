/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The creator's stack of a thread at the moment of creation: as BPF walked it, or as walked here
 * from a copy that BPF made (Quartz 1990, 3.3: "When a thread is created, we copy the profile stack
 * from the creating thread to the new thread").
 */
#ifndef QUARTZ_DAEMON_SPAWN_STACKS_H
#define QUARTZ_DAEMON_SPAWN_STACKS_H

#include <stdint.h>

#include "daemon/target/address_spaces.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/python_codes.h"
#include "daemon/symbolizer/symbolizer.h"
#include "daemon/unwind/stack_copies.h"

struct spawn_stacks;

struct spawn_stacks *spawn_stacks__new(struct symbolizer *symbolizer, struct address_spaces *spaces,
				       struct address_cache *addresses, struct python_codes *python,
				       struct qz_profile *profile);
void spawn_stacks__free(struct spawn_stacks *spawn);

/*
 * The node below which the child's stacks belong, given the node of its creator. If the creator's
 * stack cannot be found, it is shown as truncated. If all fails, returns `parent` or a marker below
 * it.
 */
uint32_t spawn_stacks__node(struct spawn_stacks *spawn, uint32_t parent,
			    const struct qz_creation_event *event);

/*
 * The node for threads of an image whose creation was not seen: below its outermost procedure,
 * main, which started them in an unknown way. main is found on the stack of the leader, which is
 * read from the living process; without it, they are below the root.
 */
uint32_t spawn_stacks__unseen(struct spawn_stacks *spawn, const struct qz_process_event *event);

/* Walks a copy of a stack of an image, made for another purpose. */
void spawn_stacks__walk(struct spawn_stacks *spawn, const struct image *image,
			const struct stack_copy *copy, struct unwinder_stack *stack);

#endif
