/* SPDX-License-Identifier: GPL-2.0-only */
/* The processors of this machine, as the kernel lists them below /sys/devices/system/cpu. */
#ifndef QUARTZ_DAEMON_PROCESSORS_H
#define QUARTZ_DAEMON_PROCESSORS_H

#include <stdbool.h>

#include "core/util/cpu_list.h"

/* Adds those of a list: "online", "present", "possible". False: it cannot be read. */
bool processors__read(const char *list, struct qz_cpu_set *set);

/*
 * How many numbers of processors there are below the highest one that is present: of those that are possible, which on
 * virtual machines are many more, none can run anything before it is added to the machine.
 */
uint32_t processors__numbers(void);

/* The NUMA node of a processor, -1: not known. */
int processors__node(uint32_t cpu);

#endif
