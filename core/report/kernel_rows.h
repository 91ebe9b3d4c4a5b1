/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's part of a report: its procedures put together by how the program got there, by which system
 * call, a page fault or an interrupt. Threads are blocked in the kernel, so these rows also have their waits, by cause:
 * the stacks of waits have no kernel frames.
 */
#ifndef QUARTZ_CORE_KERNEL_ROWS_H
#define QUARTZ_CORE_KERNEL_ROWS_H

#include "core/report/report.h"

struct qz_kernel_row {
	char *label; /* "kernel: futex calls" */
	struct qz_figure figure;
	struct qz_wait_figure waits;
};

struct qz_kernel_rows {
	uint32_t n;
	struct qz_kernel_row *rows;
	bool *inside; /* by procedure: it is the kernel's, and all its time is in these rows */
};

/*
 * Finds the rows of time that the kernel ran for programs, without its own threads. The rows are not sorted. 0 or -ENOMEM;
 * free with qz_kernel_rows__free, also after an error.
 */
int qz_kernel_rows__find(const struct qz_report *r, struct qz_kernel_rows *rows);
void qz_kernel_rows__free(struct qz_kernel_rows *rows);

/* The label of the row that a stack is in, for the caller to free; *label NULL: in none. -ENOMEM. */
int qz_kernel_rows__label(const struct qz_report *r, uint32_t leaf, char **label);

bool qz_procedure__is_kernel(const struct qz_procedure *proc);

#endif
