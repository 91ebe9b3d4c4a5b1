/* SPDX-License-Identifier: GPL-2.0-only */
/* The decomposition for programs: schema quartz.scale/v1. */
#ifndef QUARTZ_CORE_SCALE_SCALE_JSON_H
#define QUARTZ_CORE_SCALE_SCALE_JSON_H

#include <jansson.h>

#include "core/scale/gap.h"

/* At most so many rows and causes. NULL: memory was short. */
json_t *qz_scale_json__of(const struct qz_scale *s, const struct qz_identities *ids,
			  const struct qz_gaps *gaps, const char *command, uint32_t max_rows);

#endif
