/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that one or more reports know, as one JSON document of schema quartz.page/v1: what the page shows, and
 * what `quartzctl report --json --all` prints. doc/page.md describes its members. Integers only, times in nanoseconds; fields may be
 * added within v1, none changes its meaning.
 */
#ifndef QUARTZ_CORE_HTML_H
#define QUARTZ_CORE_HTML_H

#include <stdio.h>

#include "core/report/report.h"

/* What commands in findings are to name, -i and -s; NULL: nothing. Borrowed. */
struct qz_html_names {
	const char *input, *scope;
};

/*
 * Prints the document of n reports, at least 1, on one profile, and a newline. -ENOMEM, -E2BIG; errors of out stay
 * there.
 */
int qz_html__write(FILE *out, const struct qz_report *const *reports, uint32_t n,
		   const struct qz_html_names *names);

#endif
