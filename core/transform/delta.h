/* SPDX-License-Identifier: GPL-2.0-only */
/* What was measured between two snapshots of one run. */
#ifndef QUARTZ_CORE_DELTA_H
#define QUARTZ_CORE_DELTA_H

#include "core/model/profile.h"

/*
 * Makes of p the profile of the time since `before`, a snapshot that was taken earlier in the same run:
 * counts and exact times are differences, and the estimates are made anew from these, as if nothing had
 * been sampled before. Entities stay, with figures of 0 where nothing was added; samples, waits and
 * wake-ups of which nothing was added go. Where `before` has more, the difference is 0.
 *
 * The time of libquartz for counted calls is known only for the whole run: it is not subtracted.
 *
 * 0; -ESTALE: p is of another run, or older, and unchanged; -ENOMEM: p can only be freed.
 */
int qz_delta__since(struct qz_profile *p, const struct qz_profile *before);

#endif
