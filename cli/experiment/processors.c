/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/processors.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Whether a processor is the first one of its core; if that is not known, it counts as one. */
static bool leads(const char *root, int cpu)
{
	char path[PATH_MAX];
	int first = cpu;
	FILE *f;

	snprintf(path, sizeof(path),
		 "%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", root, cpu);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (fscanf(f, "%d", &first) != 1)
		first = cpu;
	fclose(f);
	return first == cpu;
}

int processors__find(struct processors *p, const char *root)
{
	cpu_set_t allowed;

	p->n = 0;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	for (int round = 0; round < 2; round++)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &allowed) && leads(root, cpu) == !round)
				p->order[p->n++] = cpu;
	return 0;
}

void processors__choose(const struct processors *p, uint32_t n, uint32_t spare, cpu_set_t *all,
			char option[32])
{
	int length = 0;

	CPU_ZERO(all);
	snprintf(option, 32, "none");
	for (uint32_t i = 0; i < p->n && i < n + spare; i++) {
		CPU_SET(p->order[i], all);
		if (i >= n)
			length += snprintf(option + length, 32 - (size_t)length, "%s%d",
					   length ? "," : "", p->order[i]);
	}
}
