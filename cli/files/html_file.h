/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages for the browser as files. What fails is said on stderr. */
#ifndef QUARTZ_CLI_HTML_FILE_H
#define QUARTZ_CLI_HTML_FILE_H

#include <stdio.h>

#include "cli/cli.h"

struct html_file {
	const char *path;
	const char *option;		      /* that another one is chosen with */
	int (*put)(FILE *out, void *context); /* writes the document; 0 or -errno */
	void *context;
	bool open; /* it is given to the browser, whose end is not awaited */
};

/*
 * Writes the page, and says so on stderr. An earlier page is replaced, any other regular file that is not empty is left
 * as it is, and so is each where the document cannot be made.
 */
enum status html_file__write(const struct html_file *file);

/* Says why there is no page, by -errno. */
enum status html_file__fail(const struct html_file *file, int err);

#endif
