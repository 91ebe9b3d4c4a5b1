/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread or a scope has read and written by system calls, by the kernel's own account, as in /proc/PID/io: at files,
 * pipes, terminals and sockets, but not by calls for sockets alone (recv, send), nor in maps of files. What the kernel reads of a
 * file to execute it is in here, about five calls each time. All 0 on a kernel without CONFIG_TASK_IO_ACCOUNTING.
 */
#ifndef QUARTZ_TRANSFER_COUNTERS_H
#define QUARTZ_TRANSFER_COUNTERS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct qz_transfers {
	__u64 reads, bytes_read;
	__u64 writes, bytes_written;
};

static inline void qz_transfers__add(struct qz_transfers *to, const struct qz_transfers *more)
{
	to->reads += more->reads;
	to->bytes_read += more->bytes_read;
	to->writes += more->writes;
	to->bytes_written += more->bytes_written;
}

#endif
