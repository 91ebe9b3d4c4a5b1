/* SPDX-License-Identifier: GPL-2.0-only */
/* How the walks of stacks ended: the keys of stack_ends of a scope. */
#ifndef QUARTZ_CLI_STACK_END_H
#define QUARTZ_CLI_STACK_END_H

#include <stdbool.h>

struct stack_end {
	bool whole; /* the walk came to the outermost frame */
	const char *meaning, *remedy;
};

/* Of an end that this quartzctl does not know, one that is not whole. Not NULL; static. */
const struct stack_end *stack_end__find(const char *name);

#endif
