/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run in slices: profiles of what was measured from one moment to the next. Together (core/merge.h) they
 * are the run: all that is counted, and all exact times, to the last nanosecond.
 *
 * A wait that has not ended is in a slice as far as it had come. Its mean parallelism, by which waits are
 * grouped, may still change, so that what was told of it already is no longer there in the run: then less is
 * told of other waits of the same thread, and the sums of each thread are right in each slice.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_SLICES_H
#define QUARTZ_CORE_SLICES_H

#include "core/profile.h"

struct qz_slices;

/* Nothing has been told yet. NULL with errno ENOMEM. */
struct qz_slices *qz_slices__new(void);
void qz_slices__free(struct qz_slices *s);

/*
 * What the profile of a run has beyond what earlier calls gave; not estimated. Only what is not nought is
 * there. NULL with errno ENOMEM: the next slice will have it.
 */
struct qz_profile *qz_slices__cut(struct qz_slices *s, const struct qz_profile *p);

/* Everything that the profile has was told: its entities have other indices since the last cut. 0 or -ENOMEM. */
int qz_slices__told(struct qz_slices *s, const struct qz_profile *p);

#endif
