/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings as text, with names escaped and lines broken. */
#ifndef QUARTZ_CORE_ADVISE_TEXT_H
#define QUARTZ_CORE_ADVISE_TEXT_H

#include <stdio.h>

#include "core/advise/advise.h"

/* Number of findings at the head of a report. */
#define QZ_HEAD_FINDINGS 3

/* The verdict, and the first n findings in brief. Width in characters, 0: no limit. 0 or -ENOMEM. */
int qz_advise_text__head(FILE *out, const struct qz_advice *a, int width, uint32_t n);

/* The verdict alone. 0 or -ENOMEM. */
int qz_advise_text__verdict(FILE *out, const struct qz_advice *a, int width);

/* The verdict, and the first n findings with all there is to each of them. 0 or -ENOMEM. */
int qz_advise_text__all(FILE *out, const struct qz_advice *a, int width, uint32_t n);

#endif
