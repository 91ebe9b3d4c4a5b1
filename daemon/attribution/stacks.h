/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns stacks, as the sampler stored them, into lists of locations of the profile. */
#ifndef QUARTZ_DAEMON_STACKS_H
#define QUARTZ_DAEMON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/target/modules.h"
#include "daemon/attribution/address_cache.h"
#include "quartz/page.h"
#include "quartz/python.h"

struct instrumented_stacks;
struct python_codes;
struct spawn_stacks;

/* What is needed to find the location of an address. All borrowed. */
struct stack_context {
	struct address_spaces *spaces;
	struct modules *modules;
	struct address_cache *addresses;
	struct qz_profile *profile;
	struct instrumented_stacks *instrumented; /* NULL: none */
	struct spawn_stacks *spawn;
	struct python_codes *python;
	const uint32_t *scopes; /* of the profile, indexed by number in BPF; QZ_NONE: unknown */
	uint32_t nscopes;
};

/* The scope of the profile for a number in BPF, which may be any. */
static inline uint32_t stack_context__scope(const struct stack_context *c, uint32_t scope)
{
	return scope < c->nscopes ? c->scopes[scope] : QZ_NONE;
}

/*
 * User, kernel and Python frames, the marks of two gaps and of goroutines, and a profile stack with
 * its task.
 */
#define STACK_LOCATIONS                                                                            \
	(QZ_USER_FRAMES + QZ_PYTHON_FRAMES + QZ_KERNEL_FRAMES + 2 + QZ_GO_ANCESTORS +              \
	 QZ_SLOT_STACK + QZ_TASK_STACK + 2)

struct stack {
	uint32_t n;
	uint32_t locations[STACK_LOCATIONS]; /* outermost first */
	uint32_t nuser;			     /* of these, user frames */
	uint32_t nprofile;		     /* the first ones are from a profile stack; or 0 */
	uint32_t outermost; /* with nprofile: the unwound location put above it, or QZ_NONE */
	bool on_behalf;	    /* it begins with the stack that submitted the task */
	bool task;	    /* of a goroutine, not of the thread that runs it */
	bool truncated;	    /* its outer end was not reached */
	bool unresolved;    /* its innermost frame has no name */
};

/* Whether a slot of a buffer holds a stack. */
bool stack_slot__used(const struct bpf_runtime_buffer *buffer, const struct qz_stack_slot *slot);

/* Asks for the addresses of all frames of a used slot; address_cache__resolve() then finds them. */
void stack__want(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		 const struct qz_stack_slot *slot);

/*
 * Places the stack of a used slot, whose addresses were resolved; a profile stack where there is
 * one.
 */
void stack__place(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		  const struct qz_stack_slot *slot, struct stack *stack);

/*
 * The procedure of the innermost code of a used slot, whose addresses were resolved: see
 * address_cache__procedure().
 */
int64_t stack__leaf(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		    const struct qz_stack_slot *slot);

/* The node of the innermost frame of a stack below `node`, or -errno. */
int64_t stack__node(struct qz_profile *profile, uint32_t node, const struct stack *stack);

#endif
