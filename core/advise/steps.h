/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of work that are too small: the cost of each, and what larger ones would save. core/costs classifies processor time.
 */
#ifndef QUARTZ_CORE_STEPS_H
#define QUARTZ_CORE_STEPS_H

#include "core/advise/bounds.h"
#include "core/costs/cost_table.h"

struct qz_steps {
	struct qz_cost_table table;
	enum qz_cost cost;		/* the largest class; QZ_COST_WORK: none is large enough */
	const struct qz_cost_row *most; /* its row with the highest cost per step; in `table` */
	uint64_t step_norm_ns;		/* of this class, per step and not per byte */
	double share;			/* of the time in which any thread ran */
	struct qz_bounds gain;
};

/*
 * Low end of the gain: with steps ten times as large, which cost a tenth. High end: the class is gone, with the other costs
 * of each step, the code of procedures whose costs exceed their own time, and the waits that belong to it. 0 or -ENOMEM;
 * free in either case.
 */
int qz_steps__find(struct qz_steps *s, const struct qz_report *r);
void qz_steps__free(struct qz_steps *s);

#endif
