/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/PID, read so that a reused pid is never taken for the process that was meant: all reads go
 * through a directory descriptor, which stays bound to the process that it was opened for.
 */
#ifndef QUARTZ_DAEMON_PROCFS_H
#define QUARTZ_DAEMON_PROCFS_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens /proc/PID; of a process whose leader has ended, the directory of a living thread, where
 * alone its memory can be seen. start_boottime (ns) must be that of the process, or 0 when any will do. Returns a
 * descriptor, or -ESRCH when the process is gone or another one, or -errno.
 */
int procfs__open(pid_t pid, uint64_t start_boottime);

/* The list of threads of a directory that procfs__open() gave, which stays open; NULL: there is none any more. To be closed (closedir). */
DIR *procfs__tasks(int dir);

/* As procfs__open(), opened when it is first asked for, which mostly it never is. The rest is 0 to begin with. */
struct procfs_dir {
	pid_t pid;
	uint64_t start_boottime;
	bool asked;
	int fd;
};

/* As procfs__open(); it stays open. */
int procfs_dir__fd(struct procfs_dir *dir);
void procfs_dir__close(struct procfs_dir *dir);

/* The pid and the start time in clock ticks, which together identify a process. False: it is gone. */
bool procfs__identity(int dir, uint64_t *pid, uint64_t *start);

/* Reads a file of the directory to a terminated string, cut at size - 1. The length or -errno. */
ssize_t procfs__read(int dir, const char *name, char *to, size_t size);

#define PROCFS_GROUPS (2 * PATH_MAX) /* bytes of what "cgroup" has */

/* The path of its control group, see core/util/systemd_unit.h; "" when it is unknown. */
void procfs__cgroup(int dir, char *to, size_t size);

/* The value of a line "Key:\tvalue" of /proc/PID/status. 0 or -ENOENT. */
int procfs__status(int dir, const char *key, char *value, size_t size);

/* The command line with blanks between the words; "" for a kernel thread. */
void procfs__command(int dir, char *to, size_t size);

/* One line of /proc/PID/maps. */
struct procfs_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool code;	  /* executable */
	bool shared;	  /* MAP_SHARED */
	const char *path; /* "" for anonymous memory */
};

typedef void proc_call(void *context, const struct procfs_mapping *m);

/* Calls `call` for every mapping. 0 or -errno. */
int procfs__mappings(int dir, proc_call *call, void *context);

#endif
