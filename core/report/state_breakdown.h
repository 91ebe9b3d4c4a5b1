/* SPDX-License-Identifier: GPL-2.0-only */
/* The states that threads were in on behalf of one procedure, or at one object: found on demand. */
#ifndef QUARTZ_CORE_STATE_BREAKDOWN_H
#define QUARTZ_CORE_STATE_BREAKDOWN_H

#include "core/report/report.h"

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
 * The states that threads were in on behalf of a procedure; at an object, threads are busy that held it while others
 * queued, blocked or ready that waited for it. Free with qz_state_breakdown__clear, also after an error. -EINVAL when there
 * is no such procedure or object, -ENOMEM.
 */
int qz_state_breakdown__of_procedure(const struct qz_report *r, uint32_t procedure,
				     struct qz_states *states);
int qz_state_breakdown__of_object(const struct qz_report *r, uint32_t object,
				  struct qz_states *states);
void qz_state_breakdown__clear(struct qz_states *states);

#endif
