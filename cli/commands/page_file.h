/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages for the browser as files. What fails is said on stderr. */
#ifndef QUARTZ_CLI_PAGE_FILE_H
#define QUARTZ_CLI_PAGE_FILE_H

#include <stddef.h>

#include "cli/cli.h"

struct page_file {
	const char *path;
	const char *option; /* that another one is chosen with */
};

/*
 * Writes the page of a document of `size` bytes, and says so on stderr. An earlier page is replaced, any other regular
 * file that is not empty is left as it is.
 */
enum status page_file__write(const struct page_file *file, const char *document, size_t size);

/* Says why there is no page, by -errno. */
enum status page_file__fail(const struct page_file *file, int err);

/* Starts the browser and does not wait for its end. */
enum status page_file__open(const char *path);

#endif
