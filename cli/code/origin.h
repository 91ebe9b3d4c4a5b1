/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the source text or the debug information of a program can be had: of Debian, or of debuginfod. */
#ifndef QUARTZ_CLI_ORIGIN_H
#define QUARTZ_CLI_ORIGIN_H

#include "core/report/report.h"

/* The mapping of the module that most self time of this procedure is in, or QZ_NONE. */
uint32_t origin__mapping(const struct qz_report *r, uint32_t procedure);

/*
 * What to do about a module without debug information, or about a missing source file of it, as a part of a
 * sentence; for the caller to free, or NULL (ENOMEM). build_id may be "".
 */
char *origin__debug_hint(const char *module, const char *build_id);
char *origin__source_hint(const char *module, const char *build_id, const char *file);

#endif
