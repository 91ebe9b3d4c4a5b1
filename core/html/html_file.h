/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page as one file: the template of web/, with the document of core/html/html.h in it, gzip'ed and in base64, so that
 * no name can end the element that it is in.
 */
#ifndef QUARTZ_CORE_HTML_FILE_H
#define QUARTZ_CORE_HTML_FILE_H

#include <stdio.h>

/* The first bytes of every page. */
#define QZ_HTML_MARK "<!doctype html><!-- quartz.page/v1 -->"

/*
 * Prints the page of a document of `size` bytes. Without one, NULL, the page asks its server for documents, at
 * page/deltas, and its policy allows that. -ENOMEM, -E2BIG; errors of out stay there.
 */
int qz_html_file__write(FILE *out, const char *document, size_t size);

#endif
