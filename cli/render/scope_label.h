/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CLI_SCOPE_LABEL_H
#define QUARTZ_CLI_SCOPE_LABEL_H

#include "core/model/profile.h"

/*
 * "process 300: ./troubled", escaped, in at most `width` characters. For the caller to free; NULL
 * with ENOMEM.
 */
char *scope_label(const struct qz_scope *scope, int width);

#endif
