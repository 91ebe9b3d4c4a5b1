// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/target/runtime_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LOGS 4096 /* one for each thread that runs JavaScript */

void runtime_directory__open(struct runtime_directory *d)
{
	clock_gettime(CLOCK_REALTIME_COARSE, &d->since); /* that of file systems */
	d->fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* In /tmp, only its user or root can have put another file in its place; a link of that name is another file. */
void runtime_files__remove_map(int tmp, pid_t pid, dev_t device, ino_t inode)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	if (!fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    st.st_nlink == 1 && st.st_dev == device && st.st_ino == inode)
		unlinkat(tmp, name, 0);
}

/* The process that a log is of, by its name; 0: it is no log. */
static pid_t log_owner(const char *name)
{
	unsigned long long isolate;
	int pid, end = 0;

	if (sscanf(name, "isolate-0x%llx-%d-v8.log%n", &isolate, &pid, &end) != 2 || pid < 1)
		return 0;
	return end && !name[end] ? pid : 0;
}

static bool is_since(const struct stat *st, const struct timespec *since)
{
	if (st->st_mtim.tv_sec != since->tv_sec)
		return st->st_mtim.tv_sec > since->tv_sec;
	return st->st_mtim.tv_nsec >= since->tv_nsec;
}

static void remove_log(const struct runtime_directory *d, const char *name)
{
	struct stat st;

	if (!fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    st.st_nlink == 1 && is_since(&st, &d->since))
		unlinkat(d->fd, name, 0);
}

void runtime_directory__remove_logs(struct runtime_directory *d,
				    bool (*is_ours)(void *context, pid_t pid), void *context)
{
	DIR *list = d->fd < 0 ? NULL : fdopendir(d->fd);
	struct dirent *file;
	int looked = 0;
	pid_t pid;

	while (list && looked < MOST_LOGS && (file = readdir(list))) {
		pid = log_owner(file->d_name);
		looked += pid > 0;
		if (pid && is_ours(context, pid))
			remove_log(d, file->d_name);
	}
	if (list)
		closedir(list);
	else if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
