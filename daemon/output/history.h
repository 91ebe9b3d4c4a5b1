/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was measured, slice by slice: files in the directory "history" of the state directory, each named
 * after the milliseconds since 1970 when it begins and ends. The oldest ones go when they are too old, or
 * all of them too large.
 */
#ifndef QUARTZ_DAEMON_HISTORY_H
#define QUARTZ_DAEMON_HISTORY_H

#include <stdint.h>

#include "core/model/profile.h"

struct history;

/*
 * Makes the directory, or finds out that slices cannot be saved there once privileges have been given up.
 * While the process has them. 0 or -errno.
 */
int history__prepare(void);

/* `age` in ns. NULL with errno: of the directory, or ENOMEM. */
struct history *history__new(uint64_t age, uint64_t bytes);
void history__free(struct history *h);

const char *history__directory(const struct history *h);

/* Saves what the profile, brought up to date, has beyond the slices before; it is to be estimated again. 0 or -errno. */
int history__cut(struct history *h, struct qz_profile *p);

/* Entities of the profile have other indices since the last cut. 0 or -ENOMEM. */
int history__renumbered(struct history *h, struct qz_profile *p);

#endif
