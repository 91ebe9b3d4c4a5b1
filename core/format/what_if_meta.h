/* SPDX-License-Identifier: GPL-2.0-only */
/* The results for candidates (core/model/what_if.h) in the metadata of a snapshot file. */
#ifndef QUARTZ_CORE_WHAT_IF_META_H
#define QUARTZ_CORE_WHAT_IF_META_H

#include <jansson.h>
#include <stdio.h>

#include "core/model/profile.h"

/* The member with a comma before it. 0 or -ENOMEM; errors of out stay there. */
int qz_what_if_meta__print(FILE *out, const struct qz_profile *p);

/* Its value, or NULL where there is none. 0, -EBADMSG, -EFBIG or -ENOMEM. */
int qz_what_if_meta__read(const json_t *array, struct qz_profile *p);

#endif
