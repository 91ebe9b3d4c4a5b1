/* SPDX-License-Identifier: GPL-2.0-only */
/* What the processor time of a scope was for: classes, and the procedures that asked for them. */
#ifndef QUARTZ_CLI_COSTS_H
#define QUARTZ_CLI_COSTS_H

#include "cli/render/scope_view.h"

/* As two tables. 0 or -ENOMEM. */
int costs__print(const struct scope_view *s);

/* A scope of the schema quartz.costs/v1, with at most so many rows of each class; NULL when memory ran out. */
json_t *costs__json(const struct qz_report *r, uint32_t max_rows);

#endif
