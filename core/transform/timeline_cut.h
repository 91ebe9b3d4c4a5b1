/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fills the timeline of a run (core/model/timeline.h) while its figures grow: keeps the figures as they were last taken. Pure.
 */
#ifndef QUARTZ_CORE_TIMELINE_CUT_H
#define QUARTZ_CORE_TIMELINE_CUT_H

#include "core/model/profile.h"

struct qz_timeline_cut;

/*
 * Gives a timeline to a profile that has no figures yet. It begins with the first scope that has figures. NULL with errno ENOMEM.
 */
struct qz_timeline_cut *qz_timeline_cut__new(struct qz_profile *p);

/* The profile keeps its timeline. Accepts NULL. */
void qz_timeline_cut__free(struct qz_timeline_cut *c);

/*
 * Adds the increase of the figures of p since the last call. Groups of time without a sample are dropped: p is to
 * be estimated. 0, or -E2BIG or -ENOMEM; then p has no timeline any more.
 */
int qz_timeline_cut__take(struct qz_timeline_cut *c, struct qz_profile *p, uint64_t until_ns);

/* Entities of p have got other indices: p has no timeline any more. */
void qz_timeline_cut__end(struct qz_timeline_cut *c, struct qz_profile *p);

#endif
