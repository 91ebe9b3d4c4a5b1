/* SPDX-License-Identifier: GPL-2.0-only */
/* What the time of a stack is for, and which procedure of the program asked for it. */
#ifndef QUARTZ_CORE_COST_WALK_H
#define QUARTZ_CORE_COST_WALK_H

#include "core/costs/cost_code.h"

struct qz_cost_walk {
	const struct qz_profile *profile;  /* borrowed */
	const struct qz_cost_code **codes; /* by procedure */
};

/* The result for one stack. */
struct qz_cost_stack {
	enum qz_cost cost;	    /* neither QZ_COST_SPINNING nor QZ_COST_LINES */
	enum qz_cost_origin origin; /* of the outermost code that has one */
	uint32_t asker; /* the innermost procedure of the program's own; QZ_NONE: none is known */
	uint32_t
		through; /* what the asker called, or how it entered the kernel; QZ_NONE: nothing, or no asker */
	bool bulk;	    /* the cost is per byte, not per call */
	bool reads, writes; /* in a call that the kernel counts */
	bool nested;	    /* `through` is on the stack twice: regions within regions */
};

/* Looks all procedures of the profile up. 0 or -ENOMEM; free in either case. */
int qz_cost_walk__init(struct qz_cost_walk *w, const struct qz_profile *p);
void qz_cost_walk__free(struct qz_cost_walk *w);

/*
 * The frames of the running thread decide, from the innermost one to the first that is the program's own. If several have a
 * class, the outermost one counts; a weak one only if there is no other. A stack with code of libraries only, without a
 * class, begins or ends its thread or process; its asker is the creator.
 */
struct qz_cost_stack qz_cost_walk__at(const struct qz_cost_walk *w, uint32_t node);

/*
 * The class of a sample with this stack. At a shared line, code that hands over keeps its class, and so on: the program
 * cannot change how locks work.
 */
enum qz_cost qz_cost_walk__of(const struct qz_cost_walk *w, const struct qz_cost_stack *stack,
			      const struct qz_sample *sample);

#endif
