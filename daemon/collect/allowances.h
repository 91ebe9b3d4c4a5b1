/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fills in which processors scopes may use, and how long quotas throttled them (core/model/profile.h). The affinity of a
 * thread is read while it lives; for a thread that ended before, that of its process at its exec counts.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_ALLOWANCES_H
#define QUARTZ_DAEMON_ALLOWANCES_H

#include "core/model/profile.h"
#include "daemon/target/address_spaces.h"
#include "quartz/records.h"

struct allowances;

/* Borrows it. root: CPU_LIMIT_ROOT, or of a copy for tests. NULL with errno ENOMEM. */
struct allowances *allowances__new(struct qz_profile *profile, const char *root);
void allowances__free(struct allowances *a);

/* There is a new scope with this index in the profile. */
void allowances__add_scope(struct allowances *a, uint32_t scope);

/* An image of a scope was found or begins with an exec: `groups` is what /proc/PID/cgroup has, or "". */
void allowances__begin(struct allowances *a, uint32_t scope, struct image *image,
		       const char *groups);

/* One of a scope was forked, whose parent may not be known. */
void allowances__fork(struct allowances *a, uint32_t scope, struct image *image,
		      const struct image *parent, uint32_t parent_scope);

/* A thread with this row lives, or has ended; its image may not be known. */
void allowances__thread(struct allowances *a, uint32_t row, struct image *image, bool lives);

/* Reads how long groups were throttled; of many groups, only some at a time. To be called once a second. */
void allowances__look(struct allowances *a);

/* Brings the figures of all scopes up to date. */
void allowances__refresh(struct allowances *a);

#endif
