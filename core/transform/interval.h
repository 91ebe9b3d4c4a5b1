/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a run between two moments, by its timeline (core/model/timeline.h). */
#ifndef QUARTZ_CORE_INTERVAL_H
#define QUARTZ_CORE_INTERVAL_H

#include "core/model/profile.h"

/*
 * Returns a new, estimated profile of the slots of p that an interval meets: their counts and exact figures, and the
 * entities that have any. Times are from the beginning of the run; interval_from_ns and interval_until_ns of the result say
 * where the slots begin and end. p can only be freed afterwards. NULL with errno: ENODATA, there is no timeline; ERANGE,
 * it ends before the interval begins, or nothing lies between the two moments; ENOMEM.
 */
struct qz_profile *qz_interval__profile(struct qz_profile *p, uint64_t from_ns, uint64_t until_ns);

/* How long the timeline of p is, 0: there is none. */
uint64_t qz_interval__whole_ns(const struct qz_profile *p);

/*
 * Where the load of a run begins and ends: the first and the last slot in which a program was not idle, that is, some
 * scope other than the machine and the kernel's had a thread on a processor for a twentieth of the time. Times as above.
 * False: there is no timeline, or no such slot.
 */
bool qz_interval__find_load(const struct qz_profile *p, uint64_t *from_ns, uint64_t *until_ns);

#endif
