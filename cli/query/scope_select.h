/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CLI_SCOPE_SELECT_H
#define QUARTZ_CLI_SCOPE_SELECT_H

#include "core/model/profile.h"

/*
 * The scopes that `text` means: "all", "machine", "kernel", "pid=N", "comm=NAME", "unit=NAME",
 * "cgroup=PATH" (with all below it), or an index; NULL the machine where there is one, else all. Returns a
 * new array of *n indices in *scopes, which the caller frees; -EINVAL when text has another form, -ENOENT when
 * there is no such scope, -ENOMEM.
 */
int scope_select__select(const struct qz_profile *p, const char *text, uint32_t **scopes,
			 uint32_t *n);

/* Says that there is no such scope, and which there are: some, of many. */
void scope_select__complain(const struct qz_profile *p, const char *wanted);

#endif
