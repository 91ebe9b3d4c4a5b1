/* SPDX-License-Identifier: GPL-2.0-only */
/* Running processes on some processors only, for a while. */
#ifndef QUARTZ_CLI_EXPERIMENT_AFFINITY_H
#define QUARTZ_CLI_EXPERIMENT_AFFINITY_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/util/options.h"

struct affinity_of_thread {
	pid_t pid, tid;
	cpu_set_t set;
};

/* What all threads of some processes had. */
struct affinity {
	uint32_t n;
	struct affinity_of_thread *threads;
};

/* 0 or -errno; *pid is the process that it is about. To be freed in any case. */
int affinity__keep(struct affinity *a, const struct qz_integers *pids, pid_t *pid);

/* All threads that these processes have now. 0 or -errno, likewise. */
int affinity__confine(const struct qz_integers *pids, const cpu_set_t *set, pid_t *pid);

/*
 * Gives all threads back what they had. A thread that was started meanwhile gets what the first thread of its process had;
 * one that has ended needs nothing.
 */
void affinity__restore(const struct affinity *a, const struct qz_integers *pids);
void affinity__free(struct affinity *a);

#endif
