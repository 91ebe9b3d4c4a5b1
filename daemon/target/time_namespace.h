/* SPDX-License-Identifier: GPL-2.0-only */
/* Times by the kernel and by the clocks that quartzd reads are compared: both must be the same clock. */
#ifndef QUARTZ_DAEMON_TIME_NAMESPACE_H
#define QUARTZ_DAEMON_TIME_NAMESPACE_H

#include <stddef.h>

/* 0, or -EOPNOTSUPP with a line in error: in this process or its children, clocks are not those of the kernel. */
int time_namespace__look(char *error, size_t size);

#endif
