/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks as the sampler stored them become lists of locations of the profile. */
#ifndef QUARTZ_DAEMON_STACKS_H
#define QUARTZ_DAEMON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/profile.h"
#include "daemon/engine.h"
#include "daemon/images.h"
#include "daemon/modules.h"
#include "daemon/places.h"
#include "daemon/reloads.h"
#include "quartz/page.h"

struct selfreport;
struct creation;

/* What it takes to tell where an address is. All borrowed. */
struct stack_context {
	struct images *images;
	struct modules *modules;
	struct places *places;
	struct qz_profile *profile;
	struct reloads *reloads;
	struct selfreport *selfreport; /* NULL: none */
	struct creation *creation;
};

/* User and kernel frames, the mark of a gap, and a profile stack with its task. */
#define STACK_LOCATIONS (QZ_USER_FRAMES + QZ_KERNEL_FRAMES + 1 + QZ_SLOT_STACK + QZ_TASK_STACK + 2)

struct stack {
	uint32_t n;
	uint32_t locations[STACK_LOCATIONS]; /* outermost first */
	uint32_t nuser;			     /* of these, not of the kernel */
	uint32_t nprofile;		     /* the first so many are from a profile stack, or 0 */
	uint32_t outermost; /* with nprofile: unwound location that was put above it, or QZ_NONE */
	bool on_behalf;	    /* it begins with the stack of who submitted a task */
	bool truncated;	    /* its outer end was not reached */
	bool unresolved;    /* its innermost frame has no name */
};

/* Whether a slot of a half holds a stack. */
bool stack_slot__used(const struct engine_half *half, const struct qz_stack_slot *slot);

/*
 * Asks for the places of all frames of a used slot; places__resolve() then finds them. Where its tables
 * were stale, those are meant that are mapped now, and the image has these until reloads__end().
 */
void stack__want(const struct stack_context *c, const struct engine_half *half,
		 const struct qz_stack_slot *slot);

/* The stack of a used slot, whose places were resolved; a profile stack where there is one. */
void stack__place(const struct stack_context *c, const struct engine_half *half,
		  const struct qz_stack_slot *slot, struct stack *stack);

/* The leaf of a stack that hangs below `node`, or -errno. */
int64_t stack__node(struct qz_profile *profile, uint32_t node, const struct stack *stack);

#endif
