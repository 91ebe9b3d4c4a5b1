/* SPDX-License-Identifier: GPL-2.0-only */
/* One scope of the document of a page, see core/page/page.h. */
#ifndef QUARTZ_CORE_PAGE_SCOPE_H
#define QUARTZ_CORE_PAGE_SCOPE_H

#include <stdio.h>

#include "core/page/page.h"
#include "core/page/page_nodes.h"

/* Prints it as an object. -ENOMEM; errors of out stay there. */
int qz_page_scope__put(FILE *out, const struct qz_report *r, const struct qz_page_nodes *nodes,
		       const struct qz_page_names *names);

#endif
