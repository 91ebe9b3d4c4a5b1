/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that control groups leave to this process: beyond the limit, the kernel does not refuse memory but kills. */
#ifndef QUARTZ_DAEMON_MEMORY_LIMIT_H
#define QUARTZ_DAEMON_MEMORY_LIMIT_H

#include <stdint.h>

/* The least that is left in this process' control group (v1 or v2) and those above it, in bytes; UINT64_MAX: none is limited. */
uint64_t memory_limit__left(void);

#endif
