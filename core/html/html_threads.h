/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads of a scope as columns, see core/html/html.h. */
#ifndef QUARTZ_CORE_HTML_THREADS_H
#define QUARTZ_CORE_HTML_THREADS_H

#include <stdio.h>

#include "core/report/report.h"

/* Prints them as a member "threads", with a comma before it. -ENOMEM; errors of out stay there. */
int qz_html_threads__put(FILE *out, const struct qz_report *r);

#endif
