/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pid namespace that quartzd is in: in a container, one below the initial one. Whatever pid quartzd
 * gives or gets is a number of it, which BPF programs translate (bpf/namespace.bpf.h).
 */
#ifndef QUARTZ_DAEMON_PID_NAMESPACE_H
#define QUARTZ_DAEMON_PID_NAMESPACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Its inode number, 0 for the initial one. -ENOENT without /proc, -EINVAL where /proc shows the processes
 * of another one; `error` has a line that says so.
 */
int pid_namespace__look(uint32_t *inode, char *error, size_t size);

#endif
