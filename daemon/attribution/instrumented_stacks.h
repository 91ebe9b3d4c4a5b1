/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the data of instrumented processes in their page sets (quartz/page.h) into the profile: procedures by their ids,
 * and profile stacks in place of unwound ones.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_INSTRUMENTED_STACKS_H
#define QUARTZ_DAEMON_INSTRUMENTED_STACKS_H

#include <stdint.h>

#include "daemon/attribution/shm_sets.h"
#include "daemon/attribution/stacks.h"

/* The module of procedures that only the program itself knows of. */
#define SELFREPORTED "[libquartz]"

struct instrumented_stacks;

/* All borrowed. NULL with errno ENOMEM. */
struct instrumented_stacks *instrumented_stacks__new(struct shm_sets *sets,
						     const struct stack_context *context);
void instrumented_stacks__free(struct instrumented_stacks *s);

/* Asks for the addresses of ids of an image's procedures; address_cache__resolve() then finds them. */
void instrumented_stacks__want(struct instrumented_stacks *s, uint32_t image, const uint32_t *ids,
			       uint32_t n);

/* The same for the profile stack of a used slot. */
void instrumented_stacks__want_slot(struct instrumented_stacks *s,
				    const struct bpf_runtime_buffer *buffer,
				    const struct qz_stack_slot *slot);

/* Whether an id that was asked for stands for code, and not for a name given by the program. */
bool instrumented_stacks__is_function(struct instrumented_stacks *s, uint32_t image, uint32_t id);

/* The procedure of an id that was asked for and resolved, or QZ_NONE. */
uint32_t instrumented_stacks__procedure(struct instrumented_stacks *s, uint32_t image, uint32_t id);

/* The name that an image's program gave to the object at an address. False: none. */
bool instrumented_stacks__object_name(const struct instrumented_stacks *s, uint32_t image,
				      uint64_t address, char name[QZ_NAME_LENGTH]);

/*
 * Puts the profile stack of a used slot, if it has one, in the place of the unwound user frames of
 * `stack`. Of these, the callees of the innermost procedure of the profile stack stay below it, or only the innermost frame
 * if they cannot be found; and the outermost one, main, stays above. Without a procedure on the profile stack, nothing
 * changes.
 */
void instrumented_stacks__merge(struct instrumented_stacks *s,
				const struct bpf_runtime_buffer *buffer,
				const struct qz_stack_slot *slot, struct stack *stack);

/* Asks for the addresses of a polled profile stack, and of the task that it is run for, if any. */
void instrumented_stacks__want_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				      const uint32_t *ids, uint32_t n);

/*
 * The stack that was asked for, below `outermost` (a location, or QZ_NONE) unless it begins there itself. False: none of it
 * is known.
 */
bool instrumented_stacks__place_polled(struct instrumented_stacks *s, uint32_t image, uint32_t task,
				       const uint32_t *ids, uint32_t n, uint32_t outermost,
				       struct stack *stack);

#endif
