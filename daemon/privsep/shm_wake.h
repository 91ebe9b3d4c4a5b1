/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wakes programs that use libquartz and have not mapped the present flag. Those that started before the first quartzd of
 * this machine wait to be called (QZ_PAGE_WAITING in quartz/page.h); others have mapped a flag that was removed, and are
 * told to map the new one (QZ_PAGE_GONE).
 */
#ifndef QUARTZ_DAEMON_SHM_WAKE_H
#define QUARTZ_DAEMON_SHM_WAKE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Calls the process if it waits, or has mapped a removed flag. start_boottime (ns) as for procfs__open. Whatever it
 * has mapped, nothing is written to but memory files of its kind, and files of root without a name that are
 * called as a flag. Any thread.
 */
void shm_wake__process(pid_t pid, uint64_t start_boottime);

/* The same with the rights of the caller, given /proc/PID: what an opener does. */
void shm_wake__call(int dir);

#endif
