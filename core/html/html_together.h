/* SPDX-License-Identifier: GPL-2.0-only */
/* What ran together in a scope, see core/html/html.h. */
#ifndef QUARTZ_CORE_HTML_TOGETHER_H
#define QUARTZ_CORE_HTML_TOGETHER_H

#include <stdio.h>

#include "core/report/report.h"

/* Marks the procedures that ran together. */
void qz_html_together__mark(const struct qz_report *r, bool *used);

/* Prints the sets as a member "together", with a comma before it; nothing where the profile has none. -ENOMEM. */
int qz_html_together__put(FILE *out, const struct qz_report *r);

#endif
