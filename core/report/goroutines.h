/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines by what they were started with and by whom. Which thread ran one says nothing of it; how many there were, samples do not tell.
 */
#ifndef QUARTZ_CORE_GOROUTINES_H
#define QUARTZ_CORE_GOROUTINES_H

#include "core/report/report.h"

struct qz_goroutine_row {
	uint32_t
		start; /* procedure; of a go statement with arguments what the compiler's wrapper calls */
	uint32_t creator; /* the procedure with the go statement, or QZ_NONE: it is not known */
	struct qz_figure figure;
	uint64_t blocked_ns; /* in the kernel; what they wait for without it, nobody sees */
};

struct qz_goroutines {
	uint32_t n;
	struct qz_goroutine_row *rows; /* by normalized time, descending, then blocked time */
};

/* Whether a procedure is the code of Go's runtime that a goroutine begins with. */
bool qz_goroutines__begin_with(const struct qz_procedure *procedure);

/*
 * Of a stack's leaf: the node of what its goroutine was started with. All those that one procedure starts with the same have one
 * node; it is not known how many there are. 0: it is no goroutine's.
 */
uint32_t qz_goroutines__node(const struct qz_profile *p, uint32_t leaf);

/* -ENOMEM; free with qz_goroutines__free, also after an error. */
int qz_goroutines__find(const struct qz_report *r, struct qz_goroutines *g);
void qz_goroutines__free(struct qz_goroutines *g);

#endif
