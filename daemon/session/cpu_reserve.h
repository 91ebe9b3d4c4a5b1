/* SPDX-License-Identifier: GPL-2.0-only */
/* Reserves processors for quartzd, so that it takes no time from the application. */
#ifndef QUARTZ_DAEMON_CPU_RESERVE_H
#define QUARTZ_DAEMON_CPU_RESERVE_H

#include <sched.h>
#include <stddef.h>

#define MAX_RESERVED 16

/*
 * Moves quartzd to processors: numbers with commas between them, "auto" or "none". *allowed becomes
 * what a command may use: all processors of ours but those. Returns how many they are, in cpus, or
 * -EINVAL with one line in error.
 */
int cpu_reserve__processors(const char *which, cpu_set_t *allowed, int cpus[MAX_RESERVED],
			    char *error, size_t size);

#endif
