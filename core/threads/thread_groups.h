/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads, by the procedure that they were started with: that separates, or joins, ten threads of one name. It is the first
 * procedure of the program after the last [thread] on their stacks: procedures that libraries put in between (libstdc++,
 * glib, …) start every thread. The first thread of a process was not started with a procedure.
 */
#ifndef QUARTZ_CORE_THREAD_GROUPS_H
#define QUARTZ_CORE_THREAD_GROUPS_H

#include "core/report/report.h"

struct qz_thread_group {
	uint32_t start; /* procedure, QZ_NONE: none, or no stack has it */
	bool first;	/* the first thread of a process; start is QZ_NONE */
	bool idle;	/* all are: core/report/idle_threads.h */
	uint32_t n;	/* threads */
	uint32_t
		row; /* of r->threads: the one with the most normalized time; all of them are of its pid */
	struct qz_figure figure;
	uint64_t cpu_ns, running_ns, ready_ns, blocked_ns; /* exact */
};

struct qz_thread_groups {
	uint32_t n;
	struct qz_thread_group *groups; /* by normalized time, descending, then blocked time */
	uint32_t *start;		/* of each thread of the report, as above */
	uint32_t *group;		/* of each thread: index of its group */
};

/* -ENOMEM; free with qz_thread_groups__free, also after an error. Idle threads have groups of their own. */
int qz_thread_groups__find(const struct qz_report *r, struct qz_thread_groups *groups);
void qz_thread_groups__free(struct qz_thread_groups *groups);

#endif
