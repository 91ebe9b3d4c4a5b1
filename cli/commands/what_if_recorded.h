/* SPDX-License-Identifier: GPL-2.0-only */
/* What a scope would gain without each of the candidates of record --what-if, as text and as JSON. */
#ifndef QUARTZ_CLI_WHAT_IF_RECORDED_H
#define QUARTZ_CLI_WHAT_IF_RECORDED_H

#include <jansson.h>

#include "cli/render/scope_view.h"
#include "core/model/what_if.h"

/* A table of the candidates of the scope. 0 or -ENOMEM. */
int what_if_recorded__print(const struct scope_view *s);

/* One candidate of the scope; NULL without memory. */
json_t *what_if_recorded__json(const struct qz_report *r, const struct qz_what_if *w);

#endif
