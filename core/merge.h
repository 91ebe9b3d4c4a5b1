/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles put together. Adding up the slices of a run gives the run, to the last nanosecond: what is
 * counted and what is exact is added up, and all else is estimated from that afterwards.
 *
 * Pure. Functions give 0 or -ENOMEM, or what the functions of core/profile.h give.
 */
#ifndef QUARTZ_CORE_MERGE_H
#define QUARTZ_CORE_MERGE_H

#include "core/profile.h"

/*
 * Where the entities of one profile are in another one, by their index; QZ_NONE: they are not there.
 * Stacks, code and causes are brought over when they are first needed.
 */
struct qz_maps {
	uint32_t *scopes, *threads, *objects, *calls;
	uint32_t *mappings, *procedures, *locations, *nodes, *causes;
};

int qz_maps__new(struct qz_maps *maps, const struct qz_profile *from);
void qz_maps__free(struct qz_maps *maps);

/*
 * Adds `from`, which must not be the same, to `to`. Scopes are equal when kind, pid and start are,
 * threads when scope, tid and start are, or scope and name of those that stand for several; those of
 * `from` that `to` does not have are added. `to` is to be estimated again.
 */
int qz_profile__merge(struct qz_profile *to, const struct qz_profile *from);

/* The same, but that only those are added of which anything is counted. */
int qz_profile__merge_busy(struct qz_profile *to, const struct qz_profile *from);

/*
 * Puts the scopes that are marked, ended ones, into the scope `into`, which is not: their threads become
 * the thread `row` of that, and their objects go. All sums stay as they are, those of the scope of the
 * machine too, and so do the indices of stacks, code and causes; where the other entities are from then on
 * is told in *maps, which is to be freed in any case. p is to be estimated again.
 */
int qz_profile__fold(struct qz_profile *p, const bool *marked, uint32_t into, uint32_t row,
		     struct qz_maps *maps);

/* What processes that were put together are called. */
#define QZ_ENDED_NAME "other (ended)"

/* Bytes of memory that each scope takes with all that is its own; bytes has an entry for each. */
void qz_profile__sizes(const struct qz_profile *p, uint64_t *bytes);

#endif
