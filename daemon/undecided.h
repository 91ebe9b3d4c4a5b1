/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The drained samples on their way into the profile. Most are decided at once; those of a loop of
 * which the sampler had yet to learn whether it waits are kept for one more half of its tables, and
 * then divided as what it has told of that loop since.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_UNDECIDED_H
#define QUARTZ_DAEMON_UNDECIDED_H

#include "core/merge.h"
#include "core/profile.h"
#include "daemon/spinning.h"

struct undecided;

/* Borrows both. NULL with errno ENOMEM. */
struct undecided *undecided__new(struct qz_profile *profile, struct spinning *spinning);
void undecided__free(struct undecided *u);

/* The samples that are added from here on are of another half. */
void undecided__begin_half(struct undecided *u);

/*
 * Adds samples of the group *key with its level, and with busy and spinning as the sampler has them;
 * sight and loop are those of spinning__sight. 0 or -ENOMEM.
 */
int undecided__add(struct undecided *u, const struct qz_sample *key, enum spin_sight sight,
		   uint32_t loop);

/*
 * The same samples again, in the scope of the machine: what they tell of their loop is known. 0 or
 * -ENOMEM.
 */
int undecided__add_again(struct undecided *u, const struct qz_sample *key, enum spin_sight sight,
			 uint32_t loop);

/*
 * Moves into the profile the half before, and this one too unless it has samples that must wait. 0 or
 * -errno of qz_profile__add_samples.
 */
int undecided__end_half(struct undecided *u);

/* Moves all into the profile, decided or not. Likewise. */
int undecided__finish(struct undecided *u);

/* Scopes of the profile were folded (core/merge.h). */
void undecided__folded(struct undecided *u, const struct qz_maps *maps);

#endif
