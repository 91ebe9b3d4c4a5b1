/* SPDX-License-Identifier: GPL-2.0-only */
/* How a scope developed, see core/page/page.h. */
#ifndef QUARTZ_CORE_PAGE_TIMELINE_H
#define QUARTZ_CORE_PAGE_TIMELINE_H

#include <stdio.h>

#include "core/page/page_nodes.h"
#include "core/report/report.h"

/* Prints it as a member "timeline", with a comma before it; nothing where the profile has none. -ENOMEM. */
int qz_page_timeline__put(FILE *out, const struct qz_report *r, const struct qz_page_nodes *nodes);

#endif
