/* SPDX-License-Identifier: GPL-2.0-only */
/* What control groups leave of the processors, by their files (v1 and v2): quotas, throttled time, cpusets. */
#ifndef QUARTZ_DAEMON_CPU_LIMIT_H
#define QUARTZ_DAEMON_CPU_LIMIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_LIMIT_ROOT "/sys/fs/cgroup"

/* A control group: its path in a hierarchy, "/" is the root; the path of a group is within those above it. */
struct cpu_limit_group {
	bool unified; /* of version 2 */
	char path[PATH_MAX];
};

/*
 * The group of a controller ("cpu", "cpuset"), from the contents of /proc/PID/cgroup. False: there is none, or it is
 * outside of what is mounted here, as seen from a container.
 */
bool cpu_limit__group(const char *text, const char *controller, struct cpu_limit_group *group);

struct cpu_limit_quota {
	uint64_t quota_us, period_us; /* 0: there is none */
	uint64_t periods, throttled, throttled_ns;
};

/* root: CPU_LIMIT_ROOT, or that of a copy for tests. False: there is no such group any more. */
bool cpu_limit__quota(const char *root, const struct cpu_limit_group *group,
		      struct cpu_limit_quota *quota);

/* The processors that its cpuset and those above it leave, as "0-3"; "": that is not known. */
void cpu_limit__cpuset(const char *root, const struct cpu_limit_group *group, char *list,
		       size_t size);

/* To the group above. False: it is the root. */
bool cpu_limit__up(struct cpu_limit_group *group);

#endif
