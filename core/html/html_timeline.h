/* SPDX-License-Identifier: GPL-2.0-only */
/* How a scope developed, see core/html/html.h. */
#ifndef QUARTZ_CORE_HTML_TIMELINE_H
#define QUARTZ_CORE_HTML_TIMELINE_H

#include <stdio.h>

#include "core/html/html_nodes.h"
#include "core/report/report.h"

/* Prints it as a member "timeline", with a comma before it; nothing where the profile has none. -ENOMEM. */
int qz_html_timeline__put(FILE *out, const struct qz_report *r, const struct qz_html_nodes *nodes);

#endif
