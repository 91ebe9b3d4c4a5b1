/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of system calls. */
#ifndef QUARTZ_CORE_SYSCALL_NAMES_H
#define QUARTZ_CORE_SYSCALL_NAMES_H

#include <stdint.h>

/* The name of a system call of this architecture, or NULL for one that was not known at build time. */
const char *syscall_names__name(uint32_t number);

#endif
