/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields that a snapshot has in its metadata and a report in its JSON, under the same names. */
#ifndef QUARTZ_CORE_FIELDS_PROFILE_H
#define QUARTZ_CORE_FIELDS_PROFILE_H

#include "core/fields.h"

/* Of struct qz_profile: where Quartz has watched what it costs itself. */
extern const struct qz_field qz_cost_fields[];

/* Of struct qz_ledger. */
extern const struct qz_field qz_ledger_fields[];

#endif
