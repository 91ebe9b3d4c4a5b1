/* SPDX-License-Identifier: GPL-2.0-only */
/* Procedures, objects and threads in one list, by normalized time or another figure. */
#ifndef QUARTZ_CORE_RANKING_H
#define QUARTZ_CORE_RANKING_H

#include "core/report/folding.h"
#include "core/report/report.h"

/* Kinds of rows of a ranking, to be combined. */
enum qz_rank_kind {
	QZ_RANK_PROCEDURES = 1, /* by their own time and time on their behalf */
	QZ_RANK_OBJECTS = 2,
	QZ_RANK_THREADS = 4,
	QZ_RANK_KERNEL =
		8, /* rows of the kernel, in place of its procedures if these are folded; not to be asked for */
};

/* Sort keys of a ranking, descending; names ascending. For rows without callees, total equals self. */
enum qz_rank_key {
	QZ_RANK_BY_DEFAULT, /* as qz_ranking__key says */
	QZ_RANK_BY_TOTAL,
	QZ_RANK_BY_SELF,
	QZ_RANK_BY_BLOCKED,
	QZ_RANK_BY_SPIN,
	QZ_RANK_BY_CPU, /* processor time of its own */
	QZ_RANK_BY_NAME,
};

struct qz_ranked {
	enum qz_rank_kind kind;
	uint32_t row; /* of r->rows, r->objects, r->threads or the kernel's rows */
};

/*
 * All rows of these kinds, by normalized time, descending; of equal ones, procedures come first and
 * threads last. Free *ranking. -ENOMEM.
 */
int qz_ranking__rows(const struct qz_report *r, unsigned int kinds, struct qz_ranked **ranking,
		     uint32_t *n);

/*
 * By total if a "main" has at least half of the busy time: then its callees are ranked below it. Without one, as in
 * programs without names or in several programs, the procedures that start everything have meaningless names: by self.
 */
enum qz_rank_key qz_ranking__key(const struct qz_report *r);

/* Removes folded rows from a ranking, and appends the kernel's rows if it has procedures. 0 or -ENOMEM. */
int qz_ranking__fold(const struct qz_folding *f, unsigned int kinds, struct qz_ranked **ranking,
		     uint32_t *n);

/* Sorts it; equal ones stay in their order. f may be NULL where nothing is folded. -ENOMEM. */
int qz_ranking__sort(const struct qz_report *r, const struct qz_folding *f, enum qz_rank_key key,
		     struct qz_ranked *ranking, uint32_t n);

#endif
