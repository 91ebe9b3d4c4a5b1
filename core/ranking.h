/* SPDX-License-Identifier: GPL-2.0-only */
/* Procedures, objects and threads in one list, by normalized time. */
#ifndef QUARTZ_CORE_RANKING_H
#define QUARTZ_CORE_RANKING_H

#include "core/report.h"

/* What may stand in a ranking, to be combined. */
enum qz_rank_kind {
	QZ_RANK_PROCEDURES = 1, /* by what is theirs and what was done on their behalf */
	QZ_RANK_OBJECTS = 2,
	QZ_RANK_THREADS = 4,
};

struct qz_ranked {
	enum qz_rank_kind kind;
	uint32_t row; /* of r->rows, r->objects or r->threads */
};

/*
 * All rows of these kinds, by normalized time, descending; of equal ones, procedures come first and
 * threads last. Free *ranking. -ENOMEM.
 */
int qz_report__rank(const struct qz_report *r, unsigned int kinds, struct qz_ranked **ranking,
		    uint32_t *n);

#endif
