/* SPDX-License-Identifier: GPL-2.0-only */
/* The first line of a report: how much of the processors was used, in words that the findings agree with. */
#ifndef QUARTZ_CORE_VERDICT_H
#define QUARTZ_CORE_VERDICT_H

#include "core/advise/advise.h"

/* From this share of the elapsed time on, what a finding gains decides the word of the verdict. */
#define QZ_VERDICT_GAIN 0.1

/*
 * "MOSTLY SERIAL: it kept 1.1 of 2 CPUs busy on average, only one for 92% of the time". Not escaped; to be freed; NULL
 * with ENOMEM.
 */
char *qz_verdict__text(const struct qz_advice *a);

/* What kept a program from most of the processors that it did not use while its threads were ready. */
enum qz_shortage {
	QZ_NOT_SHORT,
	QZ_SHORT_BY_OTHERS,
	QZ_SHORT_BY_LIMIT, /* its affinity, cpuset or quota */
};

enum qz_shortage qz_verdict__shortage(const struct qz_report *r);

/*
 * Whether other programs had more of the processors, while its threads were ready, than it had itself, and it would gain more
 * without them than by its first finding: then that is said first.
 */
bool qz_verdict__others_first(const struct qz_advice *a);

#endif
