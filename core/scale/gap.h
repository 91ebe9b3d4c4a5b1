/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The gaps between the speed-ups, in sentences, for the largest number of processors ("minding the gap" and "minding the
 * curvature" of the paper). Names of programs are escaped.
 */
#ifndef QUARTZ_CORE_SCALE_GAP_H
#define QUARTZ_CORE_SCALE_GAP_H

#include "core/scale/scale.h"

#define QZ_MAX_GAPS 12

struct qz_gaps {
	uint32_t n;
	char *sentences[QZ_MAX_GAPS];
};

/* 0 or -ENOMEM; free in either case. */
int qz_gaps__find(const struct qz_scale *s, const struct qz_identities *ids, struct qz_gaps *gaps);
void qz_gaps__free(struct qz_gaps *gaps);

/* The words for a cause of idle time: "waits for mutex queue_lock". To be freed; NULL with ENOMEM. */
char *qz_gaps__cause(const struct qz_identities *ids, const struct qz_scale_cause *cause);

/* The name of a row, escaped. To be freed; NULL with ENOMEM. */
char *qz_gaps__name(const struct qz_identities *ids, uint32_t identity);

#endif
