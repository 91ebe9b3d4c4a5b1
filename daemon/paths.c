// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/paths.h"

static const char *first_of(const char *ours, const char *systemd, const char *otherwise)
{
	const char *value = secure_getenv(ours);

	if (!value || !*value)
		value = secure_getenv(systemd);
	return value && *value ? value : otherwise;
}

const char *paths__runtime(void)
{
	return first_of("QUARTZ_RUNTIME_DIR", "RUNTIME_DIRECTORY", "/run/quartz");
}

const char *paths__state(void)
{
	return first_of("QUARTZ_STATE_DIR", "STATE_DIRECTORY", "/var/lib/quartz");
}

const char *paths__configuration(void)
{
	return first_of("QUARTZ_CONFIG_DIR", "CONFIGURATION_DIRECTORY", "/etc/quartz");
}

gid_t paths__group(void)
{
	static bool known;
	static gid_t group;
	const struct group *g = known ? NULL : getgrnam("quartz");

	if (g)
		group = g->gr_gid;
	known = true;
	return group;
}

static int check_own(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	return 0;
}

int paths__make(const char *path, mode_t mode)
{
	char above[PATH_MAX];

	if (snprintf(above, sizeof(above), "%s", path) >= (int)sizeof(above))
		return -ENAMETOOLONG;
	for (char *p = strchr(above + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(above, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	if (mkdir(path, mode))
		return errno == EEXIST ? check_own(path) : -errno;
	if (chown(path, -1, paths__group()) || chmod(path, mode))
		return -errno;
	return 0;
}

int paths__save(const char *path, mode_t mode, paths_write *write, void *context)
{
	char temporary[PATH_MAX];
	int fd, err;

	if (snprintf(temporary, sizeof(temporary), "%s.%d.part", path, getpid()) >=
	    (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = write(context, fd);
	if (!err && fsync(fd) && errno != EINVAL)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}
