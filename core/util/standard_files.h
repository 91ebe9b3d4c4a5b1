/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_CORE_STANDARD_FILES_H
#define QUARTZ_CORE_STANDARD_FILES_H

#include <errno.h>
#include <fcntl.h>

/*
 * For the first line of a main: descriptors 0, 1 and 2 that the caller has closed get a file with the wrong access mode, so
 * that no other file gets their numbers, and reading or writing them fails as before.
 */
static inline void qz_standard_files__open(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return; /* there is no /dev/null */
}

#endif
