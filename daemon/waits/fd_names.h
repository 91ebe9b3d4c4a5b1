/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of a process's descriptors, from /proc/PID only: no path of a stranger's is
 * ever followed.
 */
#ifndef QUARTZ_DAEMON_FD_NAMES_H
#define QUARTZ_DAEMON_FD_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes what descriptor fd of the process with this /proc directory is: a path, "pipe:[1234]",
 * "tcp 127.0.0.1:5432" (of a connection, the end with the lower port, which is the service),
 * "unix /run/socket", "socket:[1234]". 0, or -ENOENT when it is closed or has another inode number
 * by now.
 */
int fd_names__name(int dir, int fd, uint64_t inode, char *to, size_t size);

#endif
