/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of procedures in files without symbols, from the debug information that a debuginfod server has. */
#ifndef QUARTZ_CLI_DEBUG_NAMES_H
#define QUARTZ_CLI_DEBUG_NAMES_H

#include "core/model/profile.h"

/*
 * Names the procedures that are called by their file and address. Where DEBUGINFOD_URLS names no server, or there is no
 * libdebuginfod, nothing is asked and nothing changes. What the server gives is kept by that library, for the next time; what belongs to
 * another build is left aside.
 */
void debug_names__find(struct qz_profile *p);

#endif
