// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/util/cpu_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether a controller is in a list with commas. */
static bool is_in(const char *list, size_t length, const char *controller)
{
	size_t n = strlen(controller);

	while (length) {
		const char *comma = memchr(list, ',', length);
		size_t word = comma ? (size_t)(comma - list) : length;

		if (word == n && !memcmp(list, controller, n))
			return true;
		word += comma ? 1 : 0;
		list += word;
		length -= word;
	}
	return false;
}

/* Of a line "NUMBER:CONTROLLERS:PATH", without controllers of version 2. False: it is none, or of others. */
static bool is_of(const char *line, size_t length, const char *controller,
		  struct cpu_limit_group *group)
{
	const char *end = line + length, *list = memchr(line, ':', length), *path;

	path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
	if (!path || path[1] != '/' || end - path > PATH_MAX)
		return false;
	group->unified = path == list + 1;
	if (!group->unified && !is_in(list + 1, (size_t)(path - list - 1), controller))
		return false;
	memcpy(group->path, path + 1, (size_t)(end - path - 1));
	group->path[end - path - 1] = '\0';
	return true;
}

/* A path that leads out of what it is in is of a group that cannot be seen from here. */
static bool leads_out(const char *path)
{
	return !strncmp(path, "/..", 3) && (path[3] == '/' || !path[3]);
}

bool cpu_limit__group(const char *text, const char *controller, struct cpu_limit_group *group)
{
	struct cpu_limit_group one;
	bool found = false;

	while (*text && (!found || group->unified)) {
		size_t length = strcspn(text, "\n");

		if (is_of(text, length, controller, &one)) {
			*group = one;
			found = true;
		}
		text += length;
		text += *text == '\n';
	}
	return found && !leads_out(group->path);
}

static FILE *open_file(const char *root, const struct cpu_limit_group *group,
		       const char *controller, const char *name)
{
	char path[2 * PATH_MAX];

	if (group->unified)
		snprintf(path, sizeof(path), "%s%s/%s", root, group->path, name);
	else
		snprintf(path, sizeof(path), "%s/%s%s/%s", root, controller, group->path, name);
	return fopen(path, "re");
}

static bool read_number(const char *root, const struct cpu_limit_group *group, const char *name,
			int64_t *number)
{
	FILE *f = open_file(root, group, "cpu", name);
	bool known = f && fscanf(f, "%" SCNd64, number) == 1;

	if (f)
		fclose(f);
	return known;
}

/* "max 100000" or "50000 100000"; version 1 has a file for each, and -1 for no quota. */
static bool read_quota(const char *root, const struct cpu_limit_group *group,
		       struct cpu_limit_quota *quota)
{
	int64_t us = 0, period = 0;
	FILE *f;

	if (!group->unified) {
		if (!read_number(root, group, "cpu.cfs_quota_us", &us) ||
		    !read_number(root, group, "cpu.cfs_period_us", &period))
			return false;
	} else {
		f = open_file(root, group, "cpu", "cpu.max");
		if (!f)
			return false;
		if (fscanf(f, "%" SCNd64 " %" SCNd64, &us, &period) != 2)
			us = 0;
		fclose(f);
	}
	if (us > 0 && period > 0) {
		quota->quota_us = (uint64_t)us;
		quota->period_us = (uint64_t)period;
	}
	return true;
}

bool cpu_limit__quota(const char *root, const struct cpu_limit_group *group,
		      struct cpu_limit_quota *quota)
{
	uint64_t value;
	char key[64];
	FILE *f;

	*quota = (struct cpu_limit_quota) {0};
	if (!read_quota(root, group, quota))
		return false;
	f = quota->quota_us ? open_file(root, group, "cpu", "cpu.stat") : NULL;
	while (f && fscanf(f, "%63s %" SCNu64, key, &value) == 2) {
		if (!strcmp(key, "nr_periods"))
			quota->periods = value;
		else if (!strcmp(key, "nr_throttled"))
			quota->throttled = value;
		else if (!strcmp(key, "throttled_time"))
			quota->throttled_ns = value;
		else if (!strcmp(key, "throttled_usec"))
			quota->throttled_ns = value * 1000;
	}
	if (f)
		fclose(f);
	return true;
}

void cpu_limit__cpuset(const char *root, const struct cpu_limit_group *group, char *list,
		       size_t size)
{
	const char *name = group->unified ? "cpuset.cpus.effective" : "cpuset.effective_cpus";
	FILE *f = open_file(root, group, "cpuset", name);
	bool known = f && fgets(list, (int)size, f);

	list[known ? strcspn(list, "\n") : 0] = '\0';
	if (f)
		fclose(f);
}

bool cpu_limit__up(struct cpu_limit_group *group)
{
	char *slash = strrchr(group->path, '/');

	if (!slash || !group->path[1])
		return false;
	slash[slash == group->path] = '\0';
	return true;
}
