/* SPDX-License-Identifier: GPL-2.0-only */
/* Schedules of all kinds, replayed, and compared with the truth where there is one. */
#ifndef QUARTZ_TESTS_UNIT_CORE_REPLAY_TRUTH_H
#define QUARTZ_TESTS_UNIT_CORE_REPLAY_TRUTH_H

#include "tests/unit/core/replay/schedule.h"

/* What the seed makes: any size and kind; nearly all of them small. */
struct schedule_options truth__options(uint64_t seed);

/*
 * NULL if all is as it should be: the laws, at any time; the same figures as the schedule's where every record is there
 * and times are as they were. Else what is not.
 */
const char *truth__check(const struct schedule_options *options);

#endif
