/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of work that are too small: what is paid for each of them, and what larger ones would save. core/costs says
 * what processor time is for.
 */
#ifndef QUARTZ_CORE_STEPS_H
#define QUARTZ_CORE_STEPS_H

#include "core/advise/bounds.h"
#include "core/costs/cost_table.h"

struct qz_steps {
	struct qz_cost_table table;
	enum qz_cost
		cost; /* the class that takes most; QZ_COST_WORK: none takes enough to speak of */
	const struct qz_cost_row *most; /* of it, the row with most by the step; of `table` */
	uint64_t step_norm_ns;		/* of this class, by the step and not by the byte */
	double share;			/* of the time in which any thread ran */
	struct qz_bounds gain;
};

/*
 * The gain at least: of steps ten times as large, which cost a tenth. At most: the class is gone, with the other costs
 * of each step, the code of procedures that ask for more than they do, and the waits that hang on it. 0 or -ENOMEM;
 * free in either case.
 */
int qz_steps__find(struct qz_steps *s, const struct qz_report *r);
void qz_steps__free(struct qz_steps *s);

#endif
