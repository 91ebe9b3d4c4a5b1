/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/own_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARENT "/var/tmp"
#define TRIES  16

/* Only its owner can have put anything there. */
static bool is_own(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077) && st.st_nlink;
}

/* A directory that no living process has locked: its descriptor, or -1. */
static int take(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) && is_own(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void empty(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0); /* but . and .. */
	if (dir)
		closedir(dir);
}

static void remove_stale(const char *kind)
{
	struct own_directory left;
	DIR *dir = opendir(PARENT);
	struct dirent *entry;
	size_t n = strlen(kind);

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, kind, n) || entry->d_name[n] != '.' ||
		    snprintf(left.path, sizeof(left.path), PARENT "/%s", entry->d_name) >=
			    (int)sizeof(left.path))
			continue;
		left.fd = take(left.path);
		if (left.fd >= 0)
			own_directory__remove(&left);
	}
	if (dir)
		closedir(dir);
}

int own_directory__make(struct own_directory *d, const char *kind)
{
	int err = -EBUSY;

	remove_stale(kind);
	for (int i = 0; i < TRIES; i++) {
		snprintf(d->path, sizeof(d->path), PARENT "/%s.XXXXXX", kind);
		if (!mkdtemp(d->path)) {
			err = -errno;
			break;
		}
		d->fd = take(d->path);
		if (d->fd >= 0)
			return 0;
		rmdir(d->path); /* another process took it for one that was left */
	}
	d->path[0] = '\0';
	return err;
}

void own_directory__remove(struct own_directory *d)
{
	if (!d->path[0])
		return;
	empty(d->fd);
	rmdir(d->path);
	close(d->fd);
	d->path[0] = '\0';
}
