/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/split_file.h"

#include <errno.h>
#include <unistd.h>

static int offered = -1;

void split_file__offer(int fd)
{
	if (offered >= 0)
		close(offered);
	offered = fd;
}

int split_file__open(const char *path, int flags, ...)
{
	int fd = offered;

	offered = -1;
	if (fd < 0)
		errno = EACCES;
	return fd;
}
