// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/util/memory_limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define UNLIMITED (1ull << 60) /* v1 has the largest number of pages */

static const struct version {
	const char *root, *limit, *usage, *inactive, *active; /* the last two of memory.stat */
} v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	"total_inactive_file", "total_active_file"},
  v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};

static FILE *open_file(const struct version *v, const char *group, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s/%s", v->root, group, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

static bool read_number(const struct version *v, const char *group, const char *name,
			uint64_t *value)
{
	FILE *file = open_file(v, group, name);
	bool read = file && fscanf(file, "%" SCNu64, value) == 1;

	if (file)
		fclose(file);
	return read;
}

/* Contents of files, which the kernel drops before it kills. */
static uint64_t droppable(const struct version *v, const char *group)
{
	FILE *file = open_file(v, group, "memory.stat");
	uint64_t value, sum = 0;
	char key[64];

	while (file && fscanf(file, "%63s %" SCNu64, key, &value) == 2)
		if (!strcmp(key, v->inactive) || !strcmp(key, v->active))
			sum += value;
	if (file)
		fclose(file);
	return sum;
}

static uint64_t left_in(const struct version *v, const char *group)
{
	uint64_t limit, usage, file;

	if (!read_number(v, group, v->limit, &limit) || limit >= UNLIMITED ||
	    !read_number(v, group, v->usage, &usage))
		return UINT64_MAX;
	file = droppable(v, group);
	usage = usage > file ? usage - file : 0;
	return limit > usage ? limit - usage : 0;
}

/* A line "NUMBER:CONTROLLERS:PATH"; of v2, without controllers. */
static const struct version *parse(char *line, char **group)
{
	char *controllers = strchr(line, ':'), *colon;

	colon = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!colon)
		return NULL;
	*colon = '\0';
	*group = colon + 1;
	(*group)[strcspn(*group, "\n")] = '\0';
	if (!controllers[1])
		return &v2;
	return strstr(controllers, ":memory") || strstr(controllers, ",memory") ? &v1 : NULL;
}

uint64_t memory_limit__left(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX;
	char line[PATH_MAX], *group;

	while (file && fgets(line, sizeof(line), file)) {
		const struct version *v = parse(line, &group);

		for (char *slash = v ? group : NULL; slash;) {
			uint64_t left = left_in(v, group);

			least = left < least ? left : least;
			slash = strrchr(group, '/');
			if (slash)
				*slash = '\0';
		}
	}
	if (file)
		fclose(file);
	return least;
}
