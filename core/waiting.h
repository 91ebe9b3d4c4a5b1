/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits in reports: what core/report.c counts by procedure, and what it leaves to core/waiting.c, by
 * cause, thread and object. And the states of one procedure or object, which are found on demand.
 */
#ifndef QUARTZ_CORE_WAITING_H
#define QUARTZ_CORE_WAITING_H

#include "core/report.h"

void qz_wait_figure__add(struct qz_wait_figure *f, const struct qz_wait *w);

/* blocked + ready */
uint64_t qz_wait_figure__time(const struct qz_wait_figure *f);

/* Counts a wait under its cause. -ENOMEM. Sort once all are in; free rows. */
int qz_causes__add(struct qz_causes *causes, const struct qz_wait *w);
void qz_causes__sort(struct qz_causes *causes);

/*
 * Fills in waits, causes, objects and the waits of the threads, which r has by now. -ENOMEM; what
 * was allocated is freed with the report.
 */
int qz_waiting__build(struct qz_report *r);

/* ---- states ---- */

enum qz_state_kind {
	QZ_STATE_BUSY,
	QZ_STATE_SPINNING,
	QZ_STATE_BLOCKED,
	QZ_STATE_READY,
	QZ_STATES
};

/*
 * Time of threads in one state, summed over them, and how many threads of the scope could have run
 * meanwhile, running or ready (nominal parallelism). Of busy and spinning time only the number of
 * those running is known.
 */
struct qz_state {
	uint64_t ns;
	uint64_t *nominal_ns; /* time with so many, nlevels + 1 entries, the last for more */
	double mean;	      /* of so many; 0 without time */
};

struct qz_states {
	struct qz_state all[QZ_STATES];
	struct qz_wait_figure waits;
	struct qz_causes causes; /* of these */
};

/*
 * The states that threads were in on behalf of a procedure; of an object, busy are those that held
 * it while others queued, blocked and ready those that waited for it. Free with qz_states__clear, also
 * after an error. -EINVAL when there is no such procedure or object, -ENOMEM.
 */
int qz_report__procedure_states(const struct qz_report *r, uint32_t procedure,
				struct qz_states *states);
int qz_report__object_states(const struct qz_report *r, uint32_t object, struct qz_states *states);
void qz_states__clear(struct qz_states *states);

/* ---- stacks ---- */

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
int qz_report__waiters(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
		       uint32_t *n);
int qz_report__spinners(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
			uint32_t *n);
int qz_report__wakers(const struct qz_report *r, uint32_t object, struct qz_stack_row **rows,
		      uint32_t *n);

/* ---- time until woken ---- */

struct qz_woken_row {
	uint32_t procedure;
	uint64_t self_ns, total_ns;
	uint64_t wakes; /* from the procedure or on its behalf */
};

struct qz_woken {
	uint64_t woken_ns, wakes; /* of the scope */
	uint64_t unattributed_ns; /* to no procedure; with all self_ns it adds up to woken_ns */
	uint32_t nrows;
	struct qz_woken_row *rows; /* by total_ns, self_ns, wakes, descending, then name */
};

/* The second metric, for the scope of r (Quartz 1990, 3.2.5). -ENOMEM. Free rows. */
int qz_report__woken(const struct qz_report *r, struct qz_woken *woken);

#endif
