/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits in reports: what core/report/report.c counts by procedure, and what it leaves to core/report/wait_report.c, by
 * cause, thread and object.
 */
#ifndef QUARTZ_CORE_WAIT_REPORT_H
#define QUARTZ_CORE_WAIT_REPORT_H

#include "core/report/report.h"

/* Of a report that knows its idle threads. */
void qz_wait_figure__add(struct qz_wait_figure *f, const struct qz_report *r,
			 const struct qz_wait *w);

/* Sets the variances of the waits of a report, before the first is added. 0 or -ENOMEM. */
int qz_wait_report__find_doubt(struct qz_report *r);

/* blocked + ready */
uint64_t qz_wait_figure__time(const struct qz_wait_figure *f);

/* Half the width of the 95 % interval of that, at most: 0 where each wait was looked at. */
uint64_t qz_wait_figure__ci(const struct qz_wait_figure *f);

/* Counts a wait under its cause. -ENOMEM. Sort once all are in; free rows. */
int qz_causes__add(struct qz_causes *causes, const struct qz_report *r, const struct qz_wait *w);
void qz_causes__sort(struct qz_causes *causes);

/*
 * The waits of the scope's threads by number, *n of them: those of one thread, cause and object stand together. To be
 * freed; NULL without memory.
 */
uint32_t *qz_wait_report__by_thread(const struct qz_report *r, uint32_t *n);

/*
 * Fills in waits, causes, objects and the waits of the threads, which r has by now. -ENOMEM; what
 * was allocated is freed with the report.
 */
int qz_wait_report__build(struct qz_report *r);

#endif
