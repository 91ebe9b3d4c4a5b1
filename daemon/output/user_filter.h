/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of a profile belong to a user. */
#ifndef QUARTZ_DAEMON_USER_FILTER_H
#define QUARTZ_DAEMON_USER_FILTER_H

#include <sys/types.h>

#include "core/model/profile.h"

struct user_filter;

/*
 * The processes whose memory the kernel would now show to a process of this user and group without capabilities: not those
 * that run a setuid program, that had another user before their last exec, that cannot be dumped, or that have
 * capabilities. NULL with errno ENOMEM. Free with user_filter__free.
 */
struct user_filter *user_filter__look(const struct qz_profile *p, uid_t uid, gid_t gid);
void user_filter__free(struct user_filter *filter);

/*
 * A profile of these alone (core/transform/filter_scopes.h), once p has been brought up to date after user_filter__look():
 * a process that lives by then is the one that was checked. NULL with errno ENOMEM.
 */
struct qz_profile *user_filter__part(struct user_filter *filter, const struct qz_profile *p);

#endif
