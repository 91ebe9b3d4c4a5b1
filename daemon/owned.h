/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of a profile belong to a user. */
#ifndef QUARTZ_DAEMON_OWNED_H
#define QUARTZ_DAEMON_OWNED_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/profile.h"

struct owned;

/*
 * Those that the kernel calls this user's at this moment: not those that run a setuid program, or were
 * somebody else's before they last executed one. NULL with errno ENOMEM. Free with owned__free.
 */
struct owned *owned__look(const struct qz_profile *p, uid_t uid);
void owned__free(struct owned *o);

/*
 * A profile of these alone (core/part.h), once p has been brought up to date after the look: who lives by
 * then is the one that was looked at. NULL with errno ENOMEM.
 */
struct qz_profile *owned__part(struct owned *o, const struct qz_profile *p);

#endif
