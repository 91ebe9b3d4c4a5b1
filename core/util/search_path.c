/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/search_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

bool qz_search_path__find(const char *name, char path[PATH_MAX])
{
	const char *at = getenv("PATH") ?: "/bin:/usr/bin";

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (;; at++) {
		int n = (int)strcspn(at, ":");

		/* an empty part is the working directory */
		if (snprintf(path, PATH_MAX, "%.*s%s%s", n, at, n ? "/" : "", name) < PATH_MAX &&
		    is_program(path))
			return true;
		at += n;
		if (!*at)
			return false;
	}
}
