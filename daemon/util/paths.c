// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/util/paths.h"

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

const char *paths__cache(void)
{
	return first_of("QUARTZ_CACHE_DIR", "CACHE_DIRECTORY", "/var/cache/quartz");
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

static int make_above(const char *path)
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
	return 0;
}

int paths__make_for(const char *path, mode_t mode, gid_t group)
{
	int err = make_above(path);

	if (err)
		return err;
	if (mkdir(path, mode))
		return errno == EEXIST ? check_own(path) : -errno;
	if (chown(path, -1, group) || chmod(path, mode))
		return -errno;
	return 0;
}

int paths__make(const char *path, mode_t mode)
{
	return paths__make_for(path, mode, paths__group());
}

int paths__make_state(void)
{
	const char *path = paths__state();
	int err = paths__make_for(path, 0751, 0);
	struct stat st;

	if (err || stat(path, &st))
		return err ?: -errno;
	/* one of 0.1.0, which only the group of readers might enter */
	if (!(st.st_mode & S_IXOTH) &&
	    (chown(path, -1, 0) || chmod(path, (st.st_mode & 07777) | S_IXGRP | S_IXOTH)))
		return -errno;
	return 0;
}

static pid_t read_pid(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

static int open_lock(const char *path, struct stat *st)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int paths__lock(const char *path, pid_t *holder)
{
	struct stat st = {0};
	int fd = open_lock(path, &st), err;

	/* of 0.1.0: whoever has opened it may hold it */
	if (fd >= 0 && (st.st_mode & 077 || st.st_uid != geteuid())) {
		close(fd);
		fd = unlink(path) ? -errno : open_lock(path, &st);
	}
	if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	if (holder)
		*holder = read_pid(fd);
	close(fd);
	return err;
}
