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
 * Gives p its timeline, once all figures are there; NULL: there is none. One that does not add up to the figures of p
 * is left out, which p->timeline_differs says. -EBADMSG, -EFBIG, -ENOMEM.
 */
int qz_timeline_meta__read(const json_t *timeline, struct qz_profile *p);

#endif
