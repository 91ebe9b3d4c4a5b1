/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits in reports: what core/report/report.c counts by procedure, and what it leaves to core/report/wait_report.c, by
 * cause, thread and object.
 */
#ifndef QUARTZ_CORE_WAIT_REPORT_H
#define QUARTZ_CORE_WAIT_REPORT_H

#include "core/report/report.h"

/* Adds a wait to figures that do not depend on its place. The report must have its idle threads. */
void qz_wait_figure__add(struct qz_wait_figure *f, const struct qz_report *r,
			 const struct qz_wait *w);

/* The same to figures of a place: waits whose stack is not known for certain may be missing, or belong to another place. */
void qz_wait_figure__add_at(struct qz_wait_figure *f, const struct qz_report *r,
			    const struct qz_wait *w);

/* Sets the doubt of all waits of a report, before the first is added. */
void qz_wait_report__find_doubt(struct qz_report *r);

/* blocked + ready */
uint64_t qz_wait_figure__time(const struct qz_wait_figure *f);

/*
 * Half the width of the 95 % interval of that, at most. The sum of all doubtful waits is exact: so a place has a share of
 * that, and a place that has all of them has no error.
 */
uint64_t qz_wait_figure__ci(const struct qz_wait_figure *f);

/* Counts a wait of a place under its cause. -ENOMEM. Sort once all are in; free rows. */
int qz_causes__add(struct qz_causes *causes, const struct qz_report *r, const struct qz_wait *w);
void qz_causes__sort(struct qz_causes *causes);

/*
 * The waits of the scope's threads by number, *n of them: those of one thread, cause and object are adjacent. To be
 * freed; NULL without memory.
 */
uint32_t *qz_wait_report__by_thread(const struct qz_report *r, uint32_t *n);

/*
 * Fills in waits, causes, objects and the waits of the threads, which r has by now. -ENOMEM; what
 * was allocated is freed with the report.
 */
int qz_wait_report__build(struct qz_report *r);

#endif
