// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/privsep/procfs.h"
#include "daemon/session/target.h"

static int refuse(int err, char *error, size_t size, pid_t pid, const char *why)
{
	snprintf(error, size, "process %d: %s", pid, why);
	return err;
}

static int look(struct target *t, int dir, char *error, size_t size)
{
	char value[256];

	if (procfs__status(dir, "Tgid", value, sizeof(value)))
		return refuse(-ESRCH, error, size, t->pid, "it has just ended");
	if (atoi(value) != t->pid) {
		snprintf(error, size, "process %d: it is a thread of process %d; give --pid %d",
			 t->pid, atoi(value), atoi(value));
		return -EINVAL;
	}
	if (!procfs__status(dir, "State", value, sizeof(value)) && value[0] == 'Z' &&
	    !procfs__status(dir, "Threads", value, sizeof(value)) && atoi(value) <= 1)
		return refuse(-EINVAL, error, size, t->pid,
			      "it is a zombie: it has ended and runs nothing");
	procfs__command(dir, t->command, sizeof(t->command));
	if (procfs__status(dir, "VmSize", value, sizeof(value)) && !t->command[0] &&
	    !procfs__status(dir, "PPid", value, sizeof(value)) && (atoi(value) == 2 || t->pid == 2))
		return refuse(-EINVAL, error, size, t->pid,
			      "it is a kernel thread; only programs can be profiled");
	if (procfs__status(dir, "Name", t->comm, sizeof(t->comm)))
		return refuse(-ESRCH, error, size, t->pid, "it has just ended");
	return 0;
}

/* Room for 8,000 children of one thread. */
#define LIST_BYTES (64u << 10)

/* Of one thread, given as its directory in a list of tasks. */
static uint64_t count(int tasks, const char *tid, char list[LIST_BYTES],
		      const struct qz_integers *pids, const struct qz_integers *trees)
{
	char name[NAME_MAX + 16], *at = list, *end;
	uint64_t n = 0;
	long child;

	snprintf(name, sizeof(name), "%s/children", tid);
	if (procfs__read(tasks, name, list, LIST_BYTES) < 0)
		return 0;
	for (; (child = strtol(at, &end, 10)) > 0; at = end)
		n += !qz_integers__have(pids, child) && !qz_integers__have(trees, child);
	return n;
}

uint64_t target__count_children(pid_t pid, const struct qz_integers *pids,
				const struct qz_integers *trees)
{
	int dir = procfs__open(pid, 0);
	DIR *d = dir < 0 ? NULL : procfs__tasks(dir);
	char *list = malloc(LIST_BYTES);
	struct dirent *e;
	uint64_t n = 0;

	while (d && list && (e = readdir(d)))
		if (e->d_name[0] != '.')
			n += count(dirfd(d), e->d_name, list, pids, trees);
	free(list);
	if (d)
		closedir(d);
	if (dir >= 0)
		close(dir);
	return n;
}

int target__look(struct target *t, pid_t pid, char *error, size_t size)
{
	int dir = procfs__open(pid, 0), err;

	*t = (struct target) {.pid = pid};
	if (dir == -ESRCH)
		return refuse(dir, error, size, pid, "no such process; see ps -e");
	if (dir < 0)
		return refuse(dir, error, size, pid, strerror(-dir));
	err = look(t, dir, error, size);
	close(dir);
	return err;
}
