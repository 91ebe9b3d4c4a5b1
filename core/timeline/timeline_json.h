/* SPDX-License-Identifier: GPL-2.0-only */
/* How a scope developed, as the member "timeline" of documents; quartzctl(1) has its form. */
#ifndef QUARTZ_CORE_TIMELINE_JSON_H
#define QUARTZ_CORE_TIMELINE_JSON_H

#include <jansson.h>

#include "core/report/report.h"

/*
 * The object, json_null() where the profile has no timeline. Nodes, threads, causes and objects are indices of the
 * profile. NULL: memory was short.
 */
json_t *qz_timeline_json__object(const struct qz_report *r);

#endif
