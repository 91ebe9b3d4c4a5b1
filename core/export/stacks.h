/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of one or more reports in the form of other profilers: a tree of frames, each with the times of
 * the stacks that end there. The outermost frame is the program, below it are the creators of a thread, then
 * its own procedures, as reports join them; markers such as "[thread]" are frames, too. Programs of the
 * same name are one.
 */
#ifndef QUARTZ_CORE_EXPORT_STACKS_H
#define QUARTZ_CORE_EXPORT_STACKS_H

#include "core/report/report.h"

/* No reader would take in more, and a hostile file could ask for any amount. */
#define QZ_MAX_STACK_FRAMES 16384      /* on one stack, inlined ones included */
#define QZ_MAX_STACKS	    (1u << 22) /* of all reports */

enum qz_stack_value {
	QZ_STACK_NORM,
	QZ_STACK_CPU,
	QZ_STACK_BLOCKED, /* without threads that only waited for work */
	QZ_STACK_SPIN,
	QZ_STACK_VALUES,
};

struct qz_stack_frame {
	const char *name; /* as it was sampled: to be escaped */
	const char *file; /* source file, else the module, "" when neither is known */
	uint32_t line;	  /* of the declaration in the source file, 0 when unknown */
};

struct qz_stack {
	uint32_t parent; /* QZ_NONE: none, this is the outermost frame */
	uint32_t frame;
	uint32_t depth;			  /* 1 for outermost ones */
	uint64_t values[QZ_STACK_VALUES]; /* ns, of stacks that end here */
};

struct qz_stacks {
	uint32_t n, nframes;
	struct qz_stack *stacks;       /* each after its parent */
	uint32_t *order;	       /* of these, in preorder: each one, then its children */
	struct qz_stack_frame *frames; /* names belong to the profile */
	uint64_t sums[QZ_STACK_VALUES];
};

/*
 * Of n reports, at least 1, on one profile. For each report, norm adds up to busy_ns, spin to spin_ns, and blocked to the
 * waits' blocked_ns less idle_ns. NULL with errno: ENOMEM, or E2BIG beyond the limits above.
 */
struct qz_stacks *qz_stacks__new(const struct qz_report *const *reports, uint32_t n);
void qz_stacks__free(struct qz_stacks *s);

/* Writes the frames of a stack, outermost first, to `frames`, which has room for its depth. Returns the depth. */
uint32_t qz_stacks__path(const struct qz_stacks *s, uint32_t stack, uint32_t *frames);

#endif
