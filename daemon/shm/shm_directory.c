// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/shm/shm_server.h"
#include "daemon/util/paths.h"

#define PREFIX "private."

void shm_server__remove_directory(const char *path)
{
	static const char *const names[] = {QZ_PAGE_SOCKET, ("." QZ_PAGE_SOCKET), QZ_PAGE_FLAG,
					    PAGE_SERVER_LOCK};
	int dir = open(path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(dir, names[i], 0);
	close(dir);
	rmdir(path);
}

/* Containers may share the directory above: their pids say nothing here, and can be the same. */
static uintmax_t own_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

/*
 * A quartzd holds the lock of its directory for as long as it lives; before it has the lock, its PID tells. `name` is
 * that PID and the PID namespace.
 */
static bool is_left(const char *path, const char *name)
{
	uintmax_t namespace = 0;
	char lock[600];
	int fd, owner;

	if (sscanf(name, "%d.%ju", &owner, &namespace) != 2 || namespace != own_namespace() ||
	    owner <= 0 || !kill(owner, 0) || errno != ESRCH)
		return false;
	snprintf(lock, sizeof(lock), "%s/%s", path, PAGE_SERVER_LOCK);
	fd = paths__lock(lock, NULL);
	if (fd < 0)
		return false;
	close(fd);
	return true;
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
		if (is_left(path, e->d_name + strlen(PREFIX)))
			shm_server__remove_directory(path);
	}
	if (d)
		closedir(d);
}

int shm_server__private_directory(const char *runtime, char *path, size_t size)
{
	int err = paths__make(runtime, 0755);

	if (err)
		return err;
	sweep(runtime);
	if (snprintf(path, size, "%s/" PREFIX "%d.%ju", runtime, getpid(), own_namespace()) >=
	    (int)size)
		return -ENAMETOOLONG;
	return paths__make(path, 0755);
}
