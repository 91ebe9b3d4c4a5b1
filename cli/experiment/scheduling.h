/* SPDX-License-Identifier: GPL-2.0-only */
/* How the threads of running processes are scheduled: on which processors, how nice, by which policy; changed for a while. */
#ifndef QUARTZ_CLI_EXPERIMENT_SCHEDULING_H
#define QUARTZ_CLI_EXPERIMENT_SCHEDULING_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/experiment/runs.h"
#include "core/util/options.h"

struct scheduling_of_thread {
	pid_t pid, tid;
	cpu_set_t set;
	int nice, policy;
};

/* What all threads of some processes had. */
struct scheduling {
	uint32_t n;
	struct scheduling_of_thread *threads;
};

/* 0 or -errno; *pid is the process that it is about. To be freed in any case. */
int scheduling__keep(struct scheduling *s, const struct qz_integers *pids, pid_t *pid);

/*
 * Changes all threads that these processes have now: QZ_REMEDY_AFFINITY, _NICE, or _POLICY, which does not change a thread
 * with a policy of its own. 0 or -errno with *pid as above.
 */
int scheduling__change(const struct qz_integers *pids, const struct change *change,
		       const struct processors *on, pid_t *pid);

/*
 * Gives all threads back what they had. A thread that was started meanwhile gets what the first thread of its process had, and
 * one of a process that was started meanwhile what the first of all had; one that has ended needs nothing.
 */
void scheduling__restore(const struct scheduling *s, const struct qz_integers *pids);
void scheduling__free(struct scheduling *s);

#endif
