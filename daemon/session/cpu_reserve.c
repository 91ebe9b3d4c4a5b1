// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/util/options.h"
#include "daemon/session/cpu_reserve.h"

/* With fewer processors than this, one is too much to take from the application unasked. */
#define ENOUGH 4

static int last_of(const cpu_set_t *set)
{
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, set))
			return cpu;
	return -1;
}

/* Returns the number of processors in a list, or -EINVAL. */
static int read_list(const char *list, int cpus[MAX_RESERVED])
{
	char word[16];
	int n = 0;

	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		int64_t cpu;

		if (!length || length >= sizeof(word) || n == MAX_RESERVED)
			return -EINVAL;
		memcpy(word, at, length);
		word[length] = '\0';
		if (qz_options__integer(word, 0, CPU_SETSIZE - 1, &cpu))
			return -EINVAL;
		cpus[n++] = cpu;
		at += length;
		if (!*at)
			return n;
	}
}

static int choose(const char *which, const cpu_set_t *allowed, int cpus[MAX_RESERVED])
{
	if (!strcmp(which, "none"))
		return 0;
	if (strcmp(which, "auto"))
		return read_list(which, cpus);
	cpus[0] = last_of(allowed);
	return CPU_COUNT(allowed) >= ENOUGH;
}

/* All of a set or none of it: the kernel itself would take a part. Isolated processors, too: only what was put there
 * runs on them. */
static int move_to(const cpu_set_t *own, const cpu_set_t *back)
{
	cpu_set_t now;

	if (sched_setaffinity(0, sizeof(*own), own) || sched_getaffinity(0, sizeof(now), &now))
		return -EINVAL;
	if (CPU_EQUAL(&now, own))
		return 0;
	sched_setaffinity(0, sizeof(*back), back);
	return -EINVAL;
}

int cpu_reserve__processors(const char *which, cpu_set_t *allowed, int cpus[MAX_RESERVED],
			    char *error, size_t size)
{
	cpu_set_t own, rest;
	int n;

	if (sched_getaffinity(0, sizeof(*allowed), allowed)) {
		snprintf(error, size, "cannot tell the processors: %s", strerror(errno));
		return -EINVAL;
	}
	n = choose(which, allowed, cpus);
	if (n < 0)
		snprintf(error, size,
			 "--cpu %s: not processor numbers with commas between them, auto or none",
			 which);
	if (n <= 0)
		return n;
	rest = *allowed;
	CPU_ZERO(&own);
	for (int i = 0; i < n; i++) {
		if (CPU_ISSET(cpus[i], &own)) {
			snprintf(error, size, "--cpu %s: %d is given twice", which, cpus[i]);
			return -EINVAL;
		}
		CPU_SET(cpus[i], &own);
		CPU_CLR(cpus[i], &rest);
	}
	if (move_to(&own, allowed)) {
		snprintf(error, size, "--cpu %s: not a processor that quartzd may use", which);
		return -EINVAL;
	}
	if (CPU_COUNT(&rest))
		*allowed = rest;
	return n;
}
