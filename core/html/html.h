/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All data of one or more reports, as one JSON document of schema quartz.page/v1, for the page and for `quartzctl report
 * --json --all`. doc/page.md describes its members. Integers only, times in nanoseconds; fields may be added within v1,
 * none changes its meaning.
 */
#ifndef QUARTZ_CORE_HTML_H
#define QUARTZ_CORE_HTML_H

#include <stdio.h>

#include "core/report/report.h"

/* Arguments of -i and -s for commands in findings; NULL: none. Borrowed. */
struct qz_html_names {
	const char *input, *scope;
};

/*
 * Prints the document of n reports, at least 1, on one profile, and a newline. 0, -ENOMEM or -E2BIG; write errors stay in out.
 */
int qz_html__write(FILE *out, const struct qz_report *const *reports, uint32_t n,
		   const struct qz_html_names *names);

#endif
