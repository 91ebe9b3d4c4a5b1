/* SPDX-License-Identifier: GPL-2.0-only */
/* What the time of a stack is for, and which procedure of the program asked for it. */
#ifndef QUARTZ_CORE_COST_WALK_H
#define QUARTZ_CORE_COST_WALK_H

#include "core/costs/cost_code.h"

struct qz_cost_walk {
	const struct qz_profile *profile;  /* borrowed */
	const struct qz_cost_code **codes; /* by procedure */
};

/* What one stack tells. */
struct qz_cost_stack {
	enum qz_cost cost;	    /* neither QZ_COST_SPINNING nor QZ_COST_LINES */
	enum qz_cost_origin origin; /* of the outermost code that tells one */
	uint32_t asker; /* the innermost procedure of the program's own; QZ_NONE: none is known */
	uint32_t
		through; /* what that one called, or how it got into the kernel; QZ_NONE: nothing, or no asker */
	bool bulk;   /* of a cost: it is by the byte, not by the call */
	bool nested; /* `through` is on the stack twice: regions within regions */
};

/* Looks all procedures of the profile up. 0 or -ENOMEM; free in either case. */
int qz_cost_walk__init(struct qz_cost_walk *w, const struct qz_profile *p);
void qz_cost_walk__free(struct qz_cost_walk *w);

/*
 * The frames from the innermost one to the first that is the program's own decide, in the thread that ran. Of several
 * that have a class, the outermost one tells what was asked for; a weak one only where there is no other. Code of
 * libraries alone, without a class, begins or ends its thread or process. Who asked for that is the creator.
 */
struct qz_cost_stack qz_cost_walk__at(const struct qz_cost_walk *w, uint32_t node);

/*
 * The class of a sample with this stack. At a shared line, what hands over does so, and so on: how locks are made is not
 * the program's business.
 */
enum qz_cost qz_cost_walk__of(const struct qz_cost_walk *w, const struct qz_cost_stack *stack,
			      const struct qz_sample *sample);

#endif
