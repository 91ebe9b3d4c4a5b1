/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/PID, read so that a reused pid is never taken for the process that was meant: all reads go
 * through a directory descriptor, which stays bound to the process that it was opened for.
 */
#ifndef QUARTZ_DAEMON_PROC_H
#define QUARTZ_DAEMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens /proc/PID; of a process whose leader has ended, the directory of a living thread, where
 * alone its memory can be seen. start_boottime (ns) must be that of the process, or 0 when any will do. Gives a
 * descriptor, or -ESRCH when the process is gone or another one, or -errno.
 */
int proc__open(pid_t pid, uint64_t start_boottime);

/* The same, opened when it is first asked for, which mostly it never is. The rest is 0 to begin with. */
struct proc_dir {
	pid_t pid;
	uint64_t start_boottime;
	bool asked;
	int fd;
};

/* As proc__open(); it stays open. */
int proc_dir__fd(struct proc_dir *dir);
void proc_dir__close(struct proc_dir *dir);

/* Reads a file of the directory to a terminated string, cut at size - 1. The length or -errno. */
ssize_t proc__read(int dir, const char *name, char *to, size_t size);

/* The path of its control group, see core/unit.h; "" when it cannot be told. */
void proc__cgroup(int dir, char *to, size_t size);

/* The value of a line "Key:\tvalue" of /proc/PID/status. 0 or -ENOENT. */
int proc__status(int dir, const char *key, char *value, size_t size);

/* The command line with blanks between the words; "" for a kernel thread. */
void proc__command(int dir, char *to, size_t size);

/* One line of /proc/PID/maps. */
struct proc_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	const char *path; /* "" for anonymous memory */
};

typedef void proc_call(void *context, const struct proc_mapping *m);

/* Calls `call` for every executable mapping. 0 or -errno. */
int proc__mappings(int dir, proc_call *call, void *context);

/* The same for every mapping at all. */
int proc__all_mappings(int dir, proc_call *call, void *context);

#endif
