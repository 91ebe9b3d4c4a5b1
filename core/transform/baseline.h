/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that is counted or exact in a profile, as it stood at an earlier moment of the run: to be subtracted from
 * what the profile has later. Figures are kept by the indices of their entities, without names and stacks.
 *
 * Functions that return int give 0 or -ENOMEM; then the profile has the figures that it had. Pure.
 */
#ifndef QUARTZ_CORE_BASELINE_H
#define QUARTZ_CORE_BASELINE_H

#include "core/model/profile.h"

struct qz_baseline;

/* All figures are 0. NULL with errno ENOMEM. */
struct qz_baseline *qz_baseline__new(void);
void qz_baseline__free(struct qz_baseline *b);

/* Keeps the figures of p. */
int qz_baseline__set(struct qz_baseline *b, struct qz_profile *p);

/* Gives p, in which no entity is new since, the figures that were kept. */
void qz_baseline__restore(struct qz_baseline *b, struct qz_profile *p);

/*
 * Figures of an earlier moment were added to p since its own were kept: p has its own again, and the earlier
 * ones are kept instead.
 */
int qz_baseline__exchange(struct qz_baseline *b, struct qz_profile *p);

/*
 * Leaves in p what it has beyond the baseline, never below 0. p must have no groups that stand for time without a
 * sample (qz_profile__drop_unattributed).
 *
 * A wait that has not ended is in p as far as it had come. Its mean parallelism, by which waits are grouped, may
 * still change, so that the baseline has it in a group where p does not. Then so much less is left of the other
 * waits of the same thread: the sums of each thread are right.
 */
int qz_baseline__subtract(struct qz_baseline *b, struct qz_profile *p);

/* Adds to the baseline what was left in p. */
void qz_baseline__advance(struct qz_baseline *b, struct qz_profile *p);

#endif
