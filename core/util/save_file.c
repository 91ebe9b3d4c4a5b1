/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/save_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_temporary(int dir, const char *name, mode_t mode, char path[PATH_MAX])
{
	int fd;

	if (snprintf(path, PATH_MAX, "%s.%d.part", name, getpid()) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

int qz_save_file__at(int dir, const char *name, mode_t mode, bool durable,
		     qz_save_file_write *write, void *context)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(dir, name, mode, temporary), err;

	if (fd < 0)
		return fd;
	err = write(context, fd);
	if (!err && durable && fsync(fd) && errno != EINVAL)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temporary, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temporary, 0);
	return err;
}

int qz_save_file__try(int dir, const char *name)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(dir, name, 0600, temporary), err;

	if (fd < 0)
		return fd;
	err = write(fd, "", 1) == 1 ? 0 : -errno;
	if (close(fd) && !err)
		err = -errno;
	unlinkat(dir, temporary, 0);
	return err;
}

int qz_save_file__check(int dir, const char *name, uid_t uid)
{
	struct stat st, directory;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (fstat(dir, &directory))
		return -errno;
	if (directory.st_mode & S_ISVTX && st.st_uid != uid)
		return -EPERM;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -EEXIST;
}
