/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system calls of each process of quartzd (seccomp). All others fail with ENOSYS, as on a kernel
 * that does not know them: a C library that tries newer ones first goes on with older ones. For good,
 * and only while there is one thread. 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_FILTER_H
#define QUARTZ_DAEMON_FILTER_H

int filter__quartzd(void);
int filter__keeper(void);
int filter__opener(void);

#endif
