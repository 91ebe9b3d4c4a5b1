/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles put together. Adding up the slices of a run gives the run, to the last nanosecond: what is
 * counted and what is exact is added up, and all else is estimated from that afterwards.
 *
 * Pure. Functions give 0 or -ENOMEM, or what the functions of core/model/profile.h give.
 */
#ifndef QUARTZ_CORE_MERGE_H
#define QUARTZ_CORE_MERGE_H

#include "core/model/profile.h"

/*
 * Adds `from`, which must not be the same, to `to`. Scopes are equal when kind, pid and start are,
 * threads when scope, tid and start are, or scope and name of those that stand for several; those of
 * `from` that `to` does not have are added. `to` is to be estimated again.
 */
int qz_merge__profile(struct qz_profile *to, const struct qz_profile *from);

/* The same, but that only those are added of which anything is counted. */
int qz_merge__busy(struct qz_profile *to, const struct qz_profile *from);

/* What processes that were put together are called. */
#define QZ_ENDED_NAME "other (ended)"

/* Whether a scope stands for these: no process has the number 0. */
static inline bool qz_scope__is_folded(const struct qz_scope *s)
{
	return s->kind == QZ_SCOPE_PROCESS && !s->pid && !s->start_ns;
}

/* Processes of one program in one unit that ended within a second: as many as threads were seen. */
static inline bool qz_scope__is_group(const struct qz_scope *s)
{
	return s->kind == QZ_SCOPE_PROCESS && !s->pid && s->start_ns;
}

/* Bytes of memory that each scope takes with all that is its own; bytes has an entry for each. */
void qz_merge__sizes(const struct qz_profile *p, uint64_t *bytes);

#endif
