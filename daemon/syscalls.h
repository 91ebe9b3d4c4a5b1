/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of system calls. */
#ifndef QUARTZ_DAEMON_SYSCALLS_H
#define QUARTZ_DAEMON_SYSCALLS_H

#include <stdint.h>

/* The name of a system call of x86-64, or NULL for one that was not known at build time. */
const char *syscall__name(uint32_t number);

#endif
