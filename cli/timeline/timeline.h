/* SPDX-License-Identifier: GPL-2.0-only */
/* How a scope developed, as lines of characters: report --timeline. */
#ifndef QUARTZ_CLI_TIMELINE_H
#define QUARTZ_CLI_TIMELINE_H

#include "cli/render/scope_view.h"

/* The profile has a timeline. 0 or -ENOMEM. */
int timeline__print(const struct scope_view *s);

#endif
