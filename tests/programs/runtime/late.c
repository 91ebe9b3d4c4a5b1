/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded to quartzd: the process TARGET is killed when quartzd gives up its privileges, which is after
 * it has checked its targets and before it finds their threads.
 */
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_over(const char *pid)
{
	char path[64], state = 'X';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return true;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(f);
	return state == 'Z' || state == 'X';
}

int setgroups(size_t n, const gid_t *groups)
{
	const char *target = getenv("TARGET");

	(void)n, (void)groups;
	kill(atoi(target), SIGKILL);
	while (!is_over(target))
		usleep(10000);
	return 0;
}
