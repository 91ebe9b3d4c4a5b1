// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "daemon/page_server.h"
#include "daemon/paths.h"

#define PREFIX "private."

void page_server__remove_directory(const char *path)
{
	static const char *const names[] = {QZ_PAGE_SOCKET, ("." QZ_PAGE_SOCKET), QZ_PAGE_FLAG};
	int dir = open(path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(dir, names[i], 0);
	close(dir);
	rmdir(path);
}

/* Whoever has it holds a lock on its flag for as long as he lives; before that his pid tells. */
static bool is_left(const char *path, pid_t owner)
{
	char flag[600];
	bool left;
	int fd;

	if (owner <= 0 || !kill(owner, 0) || errno != ESRCH)
		return false;
	snprintf(flag, sizeof(flag), "%s/%s", path, QZ_PAGE_FLAG);
	fd = open(flag, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	left = !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return left;
}

static void sweep(const char *runtime)
{
	DIR *d = opendir(runtime);
	struct dirent *e;
	char path[512];

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", runtime, e->d_name);
		if (is_left(path, atoi(e->d_name + strlen(PREFIX))))
			page_server__remove_directory(path);
	}
	if (d)
		closedir(d);
}

int page_server__private_directory(const char *runtime, char *path, size_t size)
{
	int err = paths__make(runtime, 0755);

	if (err)
		return err;
	sweep(runtime);
	if (snprintf(path, size, "%s/" PREFIX "%d", runtime, getpid()) >= (int)size)
		return -ENAMETOOLONG;
	return paths__make(path, 0755);
}
