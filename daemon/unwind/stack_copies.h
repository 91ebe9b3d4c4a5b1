/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks copies of user stacks, by the unwinder of BPF and tables of its own: stacks that BPF met before
 * it had the tables, or could not read. A table is built when a walk comes to code of its module, and
 * kept for the walks to come.
 */
#ifndef QUARTZ_DAEMON_STACK_COPIES_H
#define QUARTZ_DAEMON_STACK_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/symbolizer/symbolizer.h"
#include "daemon/unwind/unwinder.h"

struct stack_copies;

/* A mapping of code of the process whose stack it is. */
struct stack_copies_region {
	uint64_t start, end, offset;
	int module; /* of the symbolizer; negative: none, such code is taken to keep frame pointers */
};

/* A stack from regs.sp upwards, of a thread in a system call or at any other place. */
struct stack_copy {
	struct qz_user_registers regs;
	const void *bytes;
	size_t size;
};

/* Borrows the symbolizer. NULL without memory. */
struct stack_copies *stack_copies__new(struct symbolizer *symbolizer);
void stack_copies__free(struct stack_copies *c);

/*
 * regions are sorted by start. The frames begin with regs.ip; return addresses are after the call: to
 * name those, take one off.
 */
void stack_copies__walk(struct stack_copies *c, const struct stack_copies_region *regions,
			uint32_t nregions, const struct stack_copy *copy,
			struct unwinder_stack *stack);

#endif
