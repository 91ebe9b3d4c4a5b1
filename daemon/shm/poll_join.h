/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One report from two kinds of samples. The pollers' samples of instrumented threads are many and
 * end at the innermost procedure of the profile stack; those of the kernel's sampler are fewer and
 * know what was called below it, also in threads that are not instrumented.
 *
 * At each level, the samples of polled threads are the pollers', divided below each profile stack like the kernel's samples
 * of it; samples of other threads are weighted by the ratio of the pollers' to the kernel's samples of polled threads. The
 * kernel's counts are kept here, and put back into the profile before more are added.
 */
#ifndef QUARTZ_DAEMON_POLL_JOIN_H
#define QUARTZ_DAEMON_POLL_JOIN_H

#include "core/model/profile.h"

struct poll_join;

/* Borrows the profile. NULL with errno ENOMEM. */
struct poll_join *poll_join__new(struct qz_profile *profile);
void poll_join__free(struct poll_join *j);

/* The kernel's samples with this leaf have the profile stack that ends at `stack`. 0 or -ENOMEM. */
int poll_join__leaf(struct poll_join *j, uint32_t leaf, uint32_t stack);

/* Adds sample->count polled samples whose node is the end of a profile stack. 0 or -errno. */
int poll_join__add(struct poll_join *j, const struct qz_sample *sample);

/* Makes the counts of the profile those of both kinds together. 0 or -errno. */
int poll_join__apply(struct poll_join *j);

/* Makes them those of the kernel's sampler again. */
void poll_join__restore(struct poll_join *j);

#endif
