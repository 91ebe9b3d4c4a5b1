// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/systemd_unit.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"

#define NS_PER_SECOND 1000000000ull

/* What /proc/PID/stat has of a thread; zero of one that is gone. */
struct life {
	pid_t pid;
	bool living;
	uint64_t start; /* in clock ticks */
};

/* Fields 3 and 22, counted after the command, which may hold blanks and brackets. */
static struct life read_life(int dir)
{
	struct life life = {0};
	char stat[1024], *p;

	if (procfs__read(dir, "stat", stat, sizeof(stat)) < 0)
		return life;
	life.pid = atoi(stat);
	p = strrchr(stat, ')');
	if (p && p[1] == ' ')
		life.living = !strchr("ZX", p[2]);
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		life.start = strtoull(p, NULL, 10);
	return life;
}

bool procfs__identity(int dir, uint64_t *pid, uint64_t *start)
{
	struct life life = read_life(dir);

	*pid = life.pid;
	*start = life.start;
	return life.start;
}

static int open_directory(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

DIR *procfs__tasks(int dir)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* The directory of a thread that has not ended, or -1. */
static int open_living_thread(int dir)
{
	DIR *d = procfs__tasks(dir);
	struct dirent *e;
	int found = -1;

	while (d && found < 0 && (e = readdir(d))) {
		pid_t tid = atoi(e->d_name);

		found = tid ? open_directory(tid) : -1;
		if (found >= 0 && !read_life(found).living) {
			close(found);
			found = -1;
		}
	}
	if (d)
		closedir(d);
	return found;
}

int procfs__open(pid_t pid, uint64_t start_boottime)
{
	uint64_t hz = sysconf(_SC_CLK_TCK);
	int dir = open_directory(pid), living;
	struct life life;

	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	life = read_life(dir);
	if (start_boottime && life.start != start_boottime / (NS_PER_SECOND / hz)) {
		close(dir);
		return -ESRCH;
	}
	if (life.living)
		return dir;
	living = open_living_thread(dir);
	if (living < 0)
		return dir;
	close(dir);
	return living;
}

int procfs_dir__fd(struct procfs_dir *dir)
{
	if (!dir->asked)
		dir->fd = procfs__open(dir->pid, dir->start_boottime);
	dir->asked = true;
	return dir->fd;
}

void procfs_dir__close(struct procfs_dir *dir)
{
	if (dir->asked && dir->fd >= 0)
		close(dir->fd);
}

ssize_t procfs__read(int dir, const char *name, char *to, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 0;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (have < size - 1 && (n = read(fd, to + have, size - 1 - have)) > 0)
		have += n;
	if (n < 0)
		n = -errno;
	close(fd);
	to[have] = '\0';
	return n < 0 ? n : (ssize_t)have;
}

int procfs__status(int dir, const char *key, char *value, size_t size)
{
	char status[4096], *line, *end;
	size_t length = strlen(key);

	if (procfs__read(dir, "status", status, sizeof(status)) < 0)
		return -ENOENT;
	for (line = status; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (strncmp(line, key, length) || line[length] != ':')
			continue;
		if (end)
			*end = '\0';
		line += length + 1;
		line += strspn(line, " \t");
		snprintf(value, size, "%s", line);
		return 0;
	}
	return -ENOENT;
}

void procfs__cgroup(int dir, char *to, size_t size)
{
	char text[PROCFS_GROUPS];

	to[0] = '\0';
	if (procfs__read(dir, "cgroup", text, sizeof(text)) > 0)
		qz_systemd_unit__cgroup_of(text, to, (int)size);
}

void procfs__command(int dir, char *to, size_t size)
{
	ssize_t n = procfs__read(dir, "cmdline", to, size);

	if (n <= 0) {
		to[0] = '\0';
		return;
	}
	while (n && !to[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!to[i])
			to[i] = ' ';
}

int procfs__mappings(int dir, proc_call *call, void *context)
{
	int fd = opener__maps(dir);
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (getline(&line, &room, f) > 0) {
		struct procfs_mapping m = {0};
		char flags[5];
		int path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &m.start, &m.end, flags, &m.offset, &m.major, &m.minor, &m.inode,
			   &path) < 7)
			continue;
		m.path = line + path;
		m.code = flags[2] == 'x';
		m.shared = flags[3] == 's';
		call(context, &m);
	}
	free(line);
	fclose(f);
	return 0;
}
