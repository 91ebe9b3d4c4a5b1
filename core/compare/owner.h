/* SPDX-License-Identifier: GPL-2.0-only */
/* To which row the own time of a sample belongs: that of a procedure, or one that stands for several. */
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
 * The owner of a sample with this stack. Time in the kernel belongs to the row of the system call, page fault or interrupt,
 * so that a stack is in one such row.
 */
struct qz_owner qz_owner__find(struct qz_identities *ids, const struct qz_report *r, uint32_t node);

#endif
