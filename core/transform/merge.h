/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges profiles. The slices of a run add up to the run, to the nanosecond: counts and exact times are added, and
 * everything else is estimated from these afterwards.
 *
 * Pure. Functions return 0, -ENOMEM, or an error of the functions of core/model/profile.h.
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

/* The same, but adds only entities with counts. */
int qz_merge__busy(struct qz_profile *to, const struct qz_profile *from);

/* The name of ended processes that were folded. */
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

/* Sets the bytes of memory of each scope with all that belongs to it; bytes has an entry for each scope. */
void qz_merge__sizes(const struct qz_profile *p, uint64_t *bytes);

#endif
