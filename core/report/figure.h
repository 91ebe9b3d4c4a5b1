/* SPDX-License-Identifier: GPL-2.0-only */
/* Builds figures, for the views of core/report/report.h. */
#ifndef QUARTZ_CORE_FIGURE_H
#define QUARTZ_CORE_FIGURE_H

#include "core/model/frames.h"
#include "core/report/report.h"

/* The i-th sample of the profile, in an order in which samples of one polled stack follow each other. */
static inline uint32_t qz_report__sample(const struct qz_report *r, uint32_t i)
{
	return r->order ? r->order[i] : i;
}

/* An empty figure. -ENOMEM. Until it is finished, it counts its samples by level as well. */
int qz_figure__init(struct qz_figure *f, const struct qz_report *r);

/* Samples come in the order of qz_report__sample. */
void qz_figure__add(struct qz_figure *f, const struct qz_report *r, const struct qz_sample *s);

/* Sets ci_ns; r has its scope, nlevels and samples by level. */
void qz_figure__finish(struct qz_figure *f, const struct qz_report *r);
void qz_figure__clear(struct qz_figure *f);

#endif
