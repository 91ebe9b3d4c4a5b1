/* SPDX-License-Identifier: GPL-2.0-only */
/* Instants in the metadata of a snapshot (core/pprof_meta.h). */
#ifndef QUARTZ_CORE_MOMENTS_META_H
#define QUARTZ_CORE_MOMENTS_META_H

#include <jansson.h>

#include "core/profile.h"

/* NULL: memory was short. */
json_t *qz_moments__write(const struct qz_profile *p);

/* Adds them, once the procedures are there; NULL: there are none. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_moments__read(const json_t *instants, struct qz_profile *p);

#endif
