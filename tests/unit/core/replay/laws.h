/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The laws of core/replay/replay.h, checked to the nanosecond. What a replay lets go of (waits, threads that have ended) is
 * kept here, so that sums over the whole time can be checked.
 */
#ifndef QUARTZ_TESTS_UNIT_CORE_REPLAY_LAWS_H
#define QUARTZ_TESTS_UNIT_CORE_REPLAY_LAWS_H

#include "core/replay/replay.h"

struct laws;

struct laws *laws__new(void);
void laws__free(struct laws *l);

/* NULL if they hold as of `now`, to which the replay is advanced; else what does not. */
const char *laws__check(struct laws *l, struct replay *r, uint64_t now);

/* The same, then lets the replay go of waits, threads that have ended, scopes that have, and every `nth` object. */
const char *laws__take(struct laws *l, struct replay *r, uint64_t now, uint32_t nth);

#endif
