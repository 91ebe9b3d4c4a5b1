/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that use libquartz and were there before the first quartzd of this machine: they know of no
 * flag that they could look at, and wait to be called (QZ_PAGE_WAITING in quartz/page.h).
 */
#ifndef QUARTZ_DAEMON_PAGE_WAKE_H
#define QUARTZ_DAEMON_PAGE_WAKE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Calls the process if it waits. start_boottime (ns) as for proc__open. Whatever it has mapped,
 * nothing but memory files of its kind is written to. Any thread.
 */
void page_wake__process(pid_t pid, uint64_t start_boottime);

/* The same with the rights of the caller, given /proc/PID: what an opener does. */
void page_wake__call(int dir);

#endif
