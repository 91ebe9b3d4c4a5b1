/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/util/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int own_files__directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : is_own(&st) ? 0 : -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int own_files__open(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool own_files__is_own(int fd, struct stat *st)
{
	return !fstat(fd, st) && S_ISREG(st->st_mode) && is_own(st);
}

bool own_files__read(int fd, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)to + done, size - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int own_files__write(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)from + done, size - done);

		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}
