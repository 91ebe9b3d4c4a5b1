/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose own time a sample is: of a procedure, or of a row that stands for several. */
#ifndef QUARTZ_CORE_COMPARE_OWNER_H
#define QUARTZ_CORE_COMPARE_OWNER_H

#include "core/compare/identities.h"
#include "core/report/report.h"

struct qz_owner {
	uint32_t procedure; /* QZ_NONE: a row that stands for several */
	int64_t identity;   /* of such a row, or -errno; 0 with a procedure */
	bool in_kernel;	    /* the row stands for all of the kernel's procedures on the stack */
};

/*
 * Of a sample with this stack. The kernel's time is that of how the program got there, so that a stack is in one row
 * of it.
 */
struct qz_owner qz_owner__find(struct qz_identities *ids, const struct qz_report *r, uint32_t node);

#endif
