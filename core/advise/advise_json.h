/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings for programs: a scope of schema quartz.advice/v1. Integers only, times in nanoseconds. */
#ifndef QUARTZ_CORE_ADVISE_JSON_H
#define QUARTZ_CORE_ADVISE_JSON_H

#include <jansson.h>

#include "core/advise/advise.h"

/* One finding; NULL when memory ran out. */
json_t *qz_advise_json__finding(const struct qz_advice *a, const struct qz_finding *f);

#endif
