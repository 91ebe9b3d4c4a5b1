/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CLI_SCOPES_H
#define QUARTZ_CLI_SCOPES_H

#include "core/profile.h"

/*
 * The scopes that `text` means: "all", "machine", "kernel", "pid=N", "comm=NAME", "unit=NAME",
 * "cgroup=PATH" (with all below it), or an index; NULL the machine where there is one, else all. Gives a
 * new array of *n indices in *scopes, which the caller frees; -EINVAL when text has another form, -ENOENT when
 * there is no such scope, -ENOMEM.
 */
int scopes__select(const struct qz_profile *p, const char *text, uint32_t **scopes, uint32_t *n);

/*
 * "process 300: ./troubled", escaped, in at most `width` characters. For the caller to free; NULL
 * with ENOMEM.
 */
char *scopes__label(const struct qz_scope *scope, int width);

#endif
