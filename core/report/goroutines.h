/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines, by the procedure that they were started with and the one that started them. Any thread may have run one;
 * samples do not show how many there were.
 */
#ifndef QUARTZ_CORE_GOROUTINES_H
#define QUARTZ_CORE_GOROUTINES_H

#include "core/report/report.h"

struct qz_goroutine_row {
	uint32_t
		start; /* procedure; for a go statement with arguments, the one that the compiler's wrapper calls */
	uint32_t creator; /* the procedure with the go statement, or QZ_NONE: it is not known */
	struct qz_figure figure;
	uint64_t blocked_ns; /* in the kernel; waits without the kernel are not seen */
};

struct qz_goroutines {
	uint32_t n;
	struct qz_goroutine_row *rows; /* by normalized time, descending, then blocked time */
};

/* Whether a procedure is the code of Go's runtime that a goroutine begins with. */
bool qz_goroutines__begin_with(const struct qz_procedure *procedure);

/*
 * The node of the procedure that a stack's goroutine was started with; all goroutines with the same start and creator share
 * a node. leaf: of the stack. 0: it is not a goroutine's.
 */
uint32_t qz_goroutines__node(const struct qz_profile *p, uint32_t leaf);

/* -ENOMEM; free with qz_goroutines__free, also after an error. */
int qz_goroutines__find(const struct qz_report *r, struct qz_goroutines *g);
void qz_goroutines__free(struct qz_goroutines *g);

#endif
