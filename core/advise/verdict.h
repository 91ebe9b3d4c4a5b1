/* SPDX-License-Identifier: GPL-2.0-only */
/* The first line of a report: how much of the processors was used, in words that the findings agree with. */
#ifndef QUARTZ_CORE_VERDICT_H
#define QUARTZ_CORE_VERDICT_H

#include "core/advise/advise.h"

/* From this share of the elapsed time on, what a finding gains decides the word of the verdict. */
#define QZ_VERDICT_GAIN 0.1

/* "MOSTLY SERIAL: only one CPU worked 92% of the time (average 1.1 of 2)". To be freed; NULL with ENOMEM. */
char *qz_verdict__text(const struct qz_advice *a);

#endif
