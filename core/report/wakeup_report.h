/* SPDX-License-Identifier: GPL-2.0-only */
/* The stacks at one object, and the metric of wake-ups: found on demand. */
#ifndef QUARTZ_CORE_WAKEUP_REPORT_H
#define QUARTZ_CORE_WAKEUP_REPORT_H

#include "core/report/report.h"

/* Equal stacks of waits for an object, of samples that spun on it, or of wake-ups from it. */
struct qz_stack_row {
	uint32_t node;
	struct qz_wait_figure waits; /* these, or */
	uint64_t spin_ns;	     /* this, or */
	uint64_t wakes, woken_ns;    /* these; the others are 0 */
};

/*
 * The stacks that waited for `object`, by blocked and ready time, those that spun on it, by time, and
 * those that woke waiters, by number, descending. Free *rows. -EINVAL, -ENOMEM.
 */
int qz_wakeup_report__waiters(const struct qz_report *r, uint32_t object,
			      struct qz_stack_row **rows, uint32_t *n);
int qz_wakeup_report__spinners(const struct qz_report *r, uint32_t object,
			       struct qz_stack_row **rows, uint32_t *n);
int qz_wakeup_report__wakers(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
			     uint32_t *n);

struct qz_woken_row {
	uint32_t procedure;
	uint64_t self_ns, total_ns;
	uint64_t wakes; /* from the procedure or on its behalf */
};

struct qz_woken {
	uint64_t woken_ns, wakes; /* of the scope */
	uint64_t unattributed_ns; /* to no procedure; with all self_ns it adds up to woken_ns */
	/*
	 * Of that, waits that no thread of the scope ended, but a timer, a device, the kernel or another program. Nothing
	 * ran on behalf of the waiting thread, and the whole wait counts.
	 */
	uint64_t nobody_ns, nobody_wakes;
	uint64_t
		nobody_futex_ns; /* of it, at futexes: time-outs, except for words that programs share */
	/* Of the rest, at objects where only idle threads waited (core/report/idle_threads.h). */
	uint64_t idle_ns;
	uint32_t nrows;
	struct qz_woken_row *rows; /* by total_ns, self_ns, wakes, descending, then name */
};

/* The second metric, for the scope of r (Quartz 1990, 3.2.5). -ENOMEM. Free rows. */
int qz_wakeup_report__woken(const struct qz_report *r, struct qz_woken *woken);

#endif
