/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The drained samples on their way into the profile. Most are decided at once; those of a loop of
 * which the sampler had yet to learn whether it waits are kept for one more half of its tables, and
 * then divided as what it has told of that loop since.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_PENDING_SAMPLES_H
#define QUARTZ_DAEMON_PENDING_SAMPLES_H

#include "core/model/profile.h"
#include "daemon/spin/spin_tracker.h"

struct pending_samples;

/* Borrows both. NULL with errno ENOMEM. */
struct pending_samples *pending_samples__new(struct qz_profile *profile,
					     struct spin_tracker *spinning);
void pending_samples__free(struct pending_samples *u);

/* The samples that are added from here on are of another half. */
void pending_samples__begin_half(struct pending_samples *u);

/*
 * Adds samples of the group *key with its level, and with busy and spinning as the sampler has them;
 * state is that of spin_tracker__state. 0 or -ENOMEM.
 */
int pending_samples__add(struct pending_samples *u, const struct qz_sample *key,
			 struct spin_state state);

/*
 * The same samples again, in the scope of the machine: the class of their loop is known. 0 or
 * -ENOMEM.
 */
int pending_samples__add_again(struct pending_samples *u, const struct qz_sample *key,
			       struct spin_state state);

/*
 * Moves into the profile the half before, and this one too unless it has samples that must wait. 0 or
 * -ENOMEM.
 */
int pending_samples__end_half(struct pending_samples *u);

/* Moves all into the profile, decided or not. Likewise. */
int pending_samples__finish(struct pending_samples *u);

/* Samples that the profile has refused for what they are, ever: see spin_correction__add. */
uint64_t pending_samples__refused(const struct pending_samples *u);

#endif
