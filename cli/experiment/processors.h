/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which processors the runs of an experiment have: whole cores first, so that two processors are not two halves of one
 * as long as there are others. quartzd works on others than the command as far as there are any.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_PROCESSORS_H
#define QUARTZ_CLI_EXPERIMENT_PROCESSORS_H

#include <sched.h>
#include <stdint.h>

/* For quartzd; more would not serve it. */
#define MAX_SPARE 2

struct processors {
	uint32_t n;
	int order
		[CPU_SETSIZE]; /* those that this process may use, in the order in which they are taken */
};

/* Those that this process may use. `root` is "", or that of a copy of /sys for tests. 0 or -errno. */
int processors__find(struct processors *p, const char *root);

/*
 * For a command on n of them: the set that quartzd is to be started on, with at most `spare` others, and its option --cpu,
 * which tells these ("none": there are none).
 */
void processors__choose(const struct processors *p, uint32_t n, uint32_t spare, cpu_set_t *all,
			char option[32]);

#endif
