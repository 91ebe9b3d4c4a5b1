/* SPDX-License-Identifier: GPL-2.0-only */
/* Remedies as JSON: an object for each, as jansson values. */
#ifndef QUARTZ_CORE_REMEDIES_JSON_H
#define QUARTZ_CORE_REMEDIES_JSON_H

#include <jansson.h>

#include "core/remedies/remedies.h"

/* {"name", "change", "how", "risk"}; NULL: memory was short. */
json_t *qz_remedies_json__use(const struct qz_remedy_use *use);

/*
 * The remedies for a finding, as an array; [] where the source must change. NULL: memory was short.
 */
json_t *qz_remedies_json__of_finding(const struct qz_remedies *r, uint32_t finding);

#endif
