/* SPDX-License-Identifier: GPL-2.0-only */
/* Instants in the metadata of a snapshot (core/format/snapshot_meta.h). */
#ifndef QUARTZ_CORE_ROUNDS_META_H
#define QUARTZ_CORE_ROUNDS_META_H

#include <jansson.h>
#include <stdio.h>

#include "core/model/profile.h"

/* Prints them as a member that follows others. -ENOMEM; errors of out stay there. */
int qz_rounds_meta__print(FILE *out, const struct qz_profile *p);

/* Adds them, once the procedures are there; NULL: there are none. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_rounds_meta__read(const json_t *instants, struct qz_profile *p);

#endif
