/* SPDX-License-Identifier: GPL-2.0-only */
/* One scope of the document of a page, see core/html/html.h. */
#ifndef QUARTZ_CORE_HTML_SCOPE_H
#define QUARTZ_CORE_HTML_SCOPE_H

#include <stdio.h>

#include "core/html/html.h"
#include "core/html/html_nodes.h"

/* Prints it as an object. -ENOMEM; errors of out stay there. */
int qz_html_scope__put(FILE *out, const struct qz_report *r, const struct qz_html_nodes *nodes,
		       const struct qz_html_names *names);

#endif
