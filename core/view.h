/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the views of core/report.h are built from: frames of a stack and figures in the making.
 */
#ifndef QUARTZ_CORE_VIEW_H
#define QUARTZ_CORE_VIEW_H

#include "core/report.h"

/* Walks the procedures and markers of a stack, innermost first. Start with line 0 at the leaf. */
struct qz_frames {
	const struct qz_profile *profile;
	uint32_t node, line;
};

/* The next procedure, or QZ_NONE at the root. */
uint32_t qz_frames__next(struct qz_frames *f);

/* The i-th sample of the profile, in an order that keeps those together that polled stacks are made of. */
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
