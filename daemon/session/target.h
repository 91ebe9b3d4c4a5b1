/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that is to be profiled. */
#ifndef QUARTZ_DAEMON_TARGET_H
#define QUARTZ_DAEMON_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/util/options.h"

struct target {
	pid_t pid;
	char comm[17];
	char command[512];
};

/*
 * Children of all threads of a process that are in neither list. 0 where the kernel does not list children, or the process
 * is gone. Any thread.
 */
uint64_t target__count_children(pid_t pid, const struct qz_integers *pids,
				const struct qz_integers *trees);

/*
 * Checks whether a process can be profiled. 0, -ESRCH no such process, -EINVAL a zombie, a kernel
 * thread or a thread that is no process; one line in error.
 */
int target__look(struct target *t, pid_t pid, char *error, size_t size);

#endif
