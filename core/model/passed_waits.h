/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits that were not looked at, and that no wait stood for that was: of profiles by versions before 0.2, which looked at
 * some waits only. Their times are exact, their places are not known: they are estimated to be those of the waits of the
 * same thread that are known.
 */
#ifndef QUARTZ_CORE_PASSED_WAITS_H
#define QUARTZ_CORE_PASSED_WAITS_H

#include "core/model/profile.h"

#define QZ_CAUSE_PASSED "not_sampled"

/*
 * Adds them to the other waits of their threads, in proportion to the times of these. The sums of each thread stay
 * the same, to the nanosecond. What a thread has no other waits for keeps its cause. 0, or -ENOMEM, and then
 * nothing was changed.
 */
int qz_passed_waits__spread(struct qz_profile *p);

#endif
