/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slices of a run, as files in the directory "history" of the state directory, each named after the milliseconds since
 * 1970 of its begin and end. Slices are removed when they are too old, and the oldest ones when all together are too large,
 * beginning with those named after a future time.
 */
#ifndef QUARTZ_DAEMON_HISTORY_H
#define QUARTZ_DAEMON_HISTORY_H

#include <stdint.h>

#include "core/model/profile.h"

struct history;

/* A moment in ms: by the clock of the day, which can be set, and by one that cannot (CLOCK_REALTIME, CLOCK_BOOTTIME). */
struct history_time {
	uint64_t wall_ms, steady_ms;
};

struct history_time history__now(void);

/*
 * Makes the directory, or finds out that slices cannot be saved there once privileges have been given up.
 * While the process has them. 0 or -errno.
 */
int history__prepare(void);

/* `age` in ns; the first slice begins now. NULL with errno: of the directory, or ENOMEM. */
struct history *history__new(uint64_t age, uint64_t bytes, const struct history_time *now);
void history__free(struct history *h);

const char *history__directory(const struct history *h);

/*
 * Saves what the profile, brought up to date, has beyond the slices before; it is to be estimated again. Slices follow each other
 * without a gap, but where the clock of the day was set: such a one ends now and is as long as it lasted. 0 or -errno.
 */
int history__cut(struct history *h, struct qz_profile *p, const struct history_time *now);

/* Entities of the profile have other indices since the last cut. 0 or -ENOMEM. */
int history__renumbered(struct history *h, struct qz_profile *p);

#endif
