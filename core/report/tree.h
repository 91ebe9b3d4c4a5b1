/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who calls whom, from the outermost procedures on: the stacks of a report as a tree of procedures. A branch has the time
 * of one path to a procedure; the row of the procedure has that of all paths. Wrappers, which only call one other
 * procedure, and the kernel's procedures are folded as in core/report/folding.h.
 */
#ifndef QUARTZ_CORE_TREE_H
#define QUARTZ_CORE_TREE_H

#include "core/report/report.h"

/* Branches below this share of the elapsed time, normalized and blocked, are left out. */
#define QZ_TREE_PER_MILLE 1

struct qz_branch {
	uint32_t procedure; /* QZ_NONE: the kernel, as `kernel` says */
	char *kernel;	    /* "kernel: futex calls", or NULL */
	uint32_t via;	    /* how it was called, enum qz_procedure_kind, as of struct qz_edge */
	uint32_t depth;	    /* of the branches shown: 0 for outermost ones */
	uint32_t wrappers;  /* folded into this one */
	struct qz_figure self, total;
	struct qz_wait_figure waits; /* of total */
};

struct qz_tree {
	uint32_t n;
	struct qz_branch *branches; /* each before those that it calls, largest first */
	uint32_t left_out;	    /* because there was no room, or they were too deep */
};

/*
 * At most `rows` branches of at most `depth` levels: the largest, each with its callers. With `flat` nothing
 * is folded. -ENOMEM; free with qz_tree__free, also after an error.
 */
int qz_tree__find(const struct qz_report *r, bool flat, uint32_t rows, uint32_t depth,
		  struct qz_tree *tree);
void qz_tree__free(struct qz_tree *tree);

#endif
