/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run in slices: profiles of what was measured from one moment to the next. Together (core/transform/merge.h) they
 * are the run: all that is counted, and all exact times, to the last nanosecond.
 *
 * A wait that has not ended is in a slice as far as it had come (core/transform/baseline.h).
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_SLICES_H
#define QUARTZ_CORE_SLICES_H

#include "core/model/profile.h"

struct qz_slices;

/* Nothing has been told yet. NULL with errno ENOMEM. */
struct qz_slices *qz_slices__new(void);
void qz_slices__free(struct qz_slices *s);

/*
 * What the profile of a run has beyond what earlier calls gave; not estimated. Only what is not nought is
 * there. The profile has its figures again afterwards, and is to be estimated again. NULL with errno ENOMEM: the next
 * slice will have it.
 */
struct qz_profile *qz_slices__cut(struct qz_slices *s, struct qz_profile *p);

/*
 * Everything that the profile has was told: its entities have other indices since the last cut. It is to be
 * estimated again. 0 or -ENOMEM.
 */
int qz_slices__told(struct qz_slices *s, struct qz_profile *p);

/*
 * Of slices that have been put together in their order, or of a single one: all threads that lived in that time
 * are among those seen from now on.
 */
void qz_slices__end(struct qz_profile *p);

#endif
