/* SPDX-License-Identifier: GPL-2.0-only */
/* The timeline in the metadata of a snapshot (core/format/snapshot_meta.h). */
#ifndef QUARTZ_CORE_TIMELINE_META_H
#define QUARTZ_CORE_TIMELINE_META_H

#include <jansson.h>
#include <stdio.h>

#include "core/model/profile.h"
#include "core/model/timeline.h"

/* Prints it as a member that follows others; errors of out stay there. */
void qz_timeline_meta__print(FILE *out, const struct qz_timeline *t);

/*
 * Gives p its timeline, after all figures were read; NULL: there is none. A timeline that does not add up to the figures of
 * p is left out, and p->timeline_differs is set. 0, -EBADMSG, -EFBIG or -ENOMEM.
 */
int qz_timeline_meta__read(const json_t *timeline, struct qz_profile *p);

#endif
