/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Divides a run into slices: profiles of one interval each. Merged (core/transform/merge.h), they have the same counts
 * and exact times as the run, to the nanosecond.
 *
 * A wait that has not ended is in a slice with its time so far (core/transform/baseline.h).
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_SLICES_H
#define QUARTZ_CORE_SLICES_H

#include "core/model/profile.h"

struct qz_slices;

/* The first slice begins with the run. NULL with errno ENOMEM. */
struct qz_slices *qz_slices__new(void);
void qz_slices__free(struct qz_slices *s);

/*
 * The slice since the last one: figures of the run less those of earlier slices, without estimates and without what
 * is 0. Afterwards the run has its figures again; its estimates must be computed anew. NULL with errno ENOMEM: the
 * next slice has this one's figures, too.
 */
struct qz_profile *qz_slices__cut(struct qz_slices *s, struct qz_profile *p);

/*
 * The next slice begins now, since the indices of entities have changed after the last slice was cut. Estimates of p
 * must be computed anew. 0 or -ENOMEM.
 */
int qz_slices__restart(struct qz_slices *s, struct qz_profile *p);

/*
 * Of merged slices, in their order, or of a single one: counts threads that lived before as seen, too.
 */
void qz_slices__end(struct qz_profile *p);

#endif
