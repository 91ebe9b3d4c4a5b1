/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts and exact figures of a profile at an earlier moment of the run, to be subtracted from a later state. Figures
 * are kept by the indices of their entities, without names and stacks.
 *
 * Functions that return int return 0, or -ENOMEM with the profile's figures unchanged. Pure.
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

/* Restores the kept figures in p, which must have no new entity since. */
void qz_baseline__restore(struct qz_baseline *b, struct qz_profile *p);

/*
 * To be called when figures of an earlier moment were added to p since its own were kept: restores p's own figures, and
 * keeps the earlier ones instead.
 */
int qz_baseline__exchange(struct qz_baseline *b, struct qz_profile *p);

/*
 * Subtracts the baseline from p, never below 0. p must have no groups that stand for time without a
 * sample (qz_profile__drop_unattributed).
 *
 * A wait that has not ended is in p as far as it had come. Its mean parallelism, by which waits are grouped, may
 * still change, so that the baseline has it in a group where p does not. Then so much less is left of the other
 * waits of the same thread: the sums of each thread are right.
 */
int qz_baseline__subtract(struct qz_baseline *b, struct qz_profile *p);

/* Adds the difference that is in p to the baseline. */
void qz_baseline__advance(struct qz_baseline *b, struct qz_profile *p);

#endif
