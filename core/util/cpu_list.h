/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of processors, and the lists that the kernel and taskset(1) write them as: "0-3,8". Pure. */
#ifndef QUARTZ_CORE_CPU_LIST_H
#define QUARTZ_CORE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QZ_CPUS 8192 /* the kernel's own limit on x86-64 */

/* All zero is none. As the kernel has a set, sched_setaffinity(2). */
struct qz_cpu_set {
	uint64_t bits[QZ_CPUS / 64];
};

/* Adds those of a list, which may end with a newline. False: it is none; some may have been added. */
bool qz_cpu_set__add_list(struct qz_cpu_set *set, const char *list);

bool qz_cpu_set__has(const struct qz_cpu_set *set, uint32_t cpu);

uint32_t qz_cpu_set__count(const struct qz_cpu_set *set);

/* One above the highest number in it; of none 0. */
uint32_t qz_cpu_set__end(const struct qz_cpu_set *set);

/* The list of a set; of one that has no room in size bytes "". */
void qz_cpu_set__list(const struct qz_cpu_set *set, char *list, size_t size);

#endif
