// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/util/processors.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/devices/system/cpu/"

bool processors__read(const char *list, struct qz_cpu_set *set)
{
	char path[64], line[4096];
	bool read;
	FILE *f;

	snprintf(path, sizeof(path), ROOT "%s", list);
	f = fopen(path, "re");
	read = f && fgets(line, sizeof(line), f);
	if (f)
		fclose(f);
	return read && qz_cpu_set__add_list(set, line);
}

uint32_t processors__numbers(void)
{
	struct qz_cpu_set present = {0};

	if (processors__read("present", &present))
		return qz_cpu_set__end(&present);
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

int processors__node(uint32_t cpu)
{
	char pattern[64];
	glob_t found;
	int node = -1;

	snprintf(pattern, sizeof(pattern), ROOT "cpu%u/node[0-9]*", cpu);
	if (!glob(pattern, GLOB_NOSORT, NULL, &found) && found.gl_pathc)
		node = atoi(strrchr(found.gl_pathv[0], '/') + strlen("/node"));
	globfree(&found);
	return node;
}
