/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Brings what instrumented processes write into their page sets (quartz/page.h) into the profile:
 * procedures by id, and profile stacks in place of unwound ones. Used by one thread at a time.
 */
#ifndef QUARTZ_DAEMON_INSTRUMENTED_STACKS_H
#define QUARTZ_DAEMON_INSTRUMENTED_STACKS_H

#include <stdint.h>

#include "daemon/attribution/shm_sets.h"
#include "daemon/attribution/stacks.h"

/* The module of procedures that only the program itself knows. */
#define SELFREPORTED "[libquartz]"

struct instrumented_stacks;

/* Borrows both. NULL with errno ENOMEM. */
struct instrumented_stacks *instrumented_stacks__new(struct shm_sets *sets,
						     const struct stack_context *context);
void instrumented_stacks__free(struct instrumented_stacks *s);

/* Wants the addresses of procedures by their ids in an image, for address_cache__resolve(). */
void instrumented_stacks__want(struct instrumented_stacks *s, uint32_t image, const uint32_t *ids,
			       uint32_t n);

/* The same for the profile stack of a used slot. */
void instrumented_stacks__want_slot(struct instrumented_stacks *s,
				    const struct bpf_runtime_buffer *buffer,
				    const struct qz_stack_slot *slot);

/* Whether a wanted id is code, and not a name given by the program. */
bool instrumented_stacks__is_function(struct instrumented_stacks *s, uint32_t image, uint32_t id);

/* The procedure of an id that was wanted and resolved, or QZ_NONE. */
uint32_t instrumented_stacks__procedure(struct instrumented_stacks *s, uint32_t image, uint32_t id);

/* Writes the name that the program of an image gave to the object at an address. False: none. */
bool instrumented_stacks__object_name(const struct instrumented_stacks *s, uint32_t image,
				      uint64_t address, char name[QZ_NAME_LENGTH]);

/*
 * Replaces the unwound user frames of `stack` by the profile stack of a used slot, if it has one.
 * Unwound frames stay in two places: at the inner end the callees of the profile stack's innermost
 * procedure, or only the innermost frame if that procedure is not found; and at the outer end main.
 * Without a procedure on the profile stack, nothing changes.
 */
void instrumented_stacks__merge(struct instrumented_stacks *s,
				const struct bpf_runtime_buffer *buffer,
				const struct qz_stack_slot *slot, struct stack *stack);

/* Wants the addresses of a polled profile stack, and of the task that it runs for, if any. */
void instrumented_stacks__want_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				      const uint32_t *ids, uint32_t n);

/*
 * Places the polled stack below `outermost` (a location, or QZ_NONE), unless it begins there
 * itself. False: none of it is known.
 */
bool instrumented_stacks__place_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				       const uint32_t *ids, uint32_t n, uint32_t outermost,
				       struct stack *stack);

#endif
