/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *directory(const char *variable, const char *standard)
{
	const char *value = getenv(variable);

	return value && *value ? value : standard;
}

void paths__state(const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", directory("QUARTZ_STATE_DIR", "/var/lib/quartz"), name);
}

void paths__runtime(const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", directory("QUARTZ_RUNTIME_DIR", "/run/quartz"), name);
}

enum status paths__fail(const char *what, int err)
{
	if (err == EACCES || err == EPERM) {
		complain("%s: %s; run as root or as a member of the group quartz", what,
			 strerror(err));
		return STATUS_NO_PRIVILEGE;
	}
	complain("%s: %s", what, strerror(err));
	return STATUS_FAILURE;
}
