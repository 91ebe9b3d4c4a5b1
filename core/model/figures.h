/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All figures of a profile that add up, as columns: one figure of all entities of a kind, such as the counts of all
 * samples, by the index of the entity. The times at one level are a column of the scopes, and so are the counts of one kind
 * of end of a walk. The time of a program in libquartz is not a column: it is estimated. Pure.
 */
#ifndef QUARTZ_CORE_FIGURES_H
#define QUARTZ_CORE_FIGURES_H

#include "core/model/profile.h"

/* Columns have numbers below these. The numbers differ between versions: files have names. */
#define QZ_FIGURE_LEVELS 256 /* the column of level n is this one + n */
#define QZ_FIGURE_ENDS	 (QZ_FIGURE_LEVELS + QZ_MAX_LEVELS)
#define QZ_FIGURE_IDS	 (QZ_FIGURE_ENDS + QZ_MAX_CAUSES)

/* A column in the memory of a profile; valid until an entity is added. */
struct qz_column {
	char *first;
	size_t size, at; /* of an entity, and of the figure in it */
	uint32_t n;	 /* entities */
	uint32_t id;
};

/* False: there is none of this number, or no entity of its kind. */
bool qz_figures__column(struct qz_profile *p, uint32_t id, struct qz_column *column);

/* A copy of the figures of a column. */
struct qz_kept {
	uint64_t *values;
	uint32_t n; /* entries that there is room for */
};

/* Makes room for n; new entries are 0. 0 or -ENOMEM. */
int qz_kept__grow(struct qz_kept *k, uint32_t n);

/* The next number of a column after this one; skips levels that no scope has. */
uint32_t qz_figures__next(const struct qz_profile *p, uint32_t id);

/* The figure of an entity below column->n; NULL where a scope has no such level or end. */
uint64_t *qz_column__at(const struct qz_column *column, uint32_t entity);

/*
 * The column's name in files: "samples.count", "objects.queue_ns.3", "level_ns.2". False: there is no such number.
 */
#define QZ_FIGURE_NAME 64
bool qz_figures__name(uint32_t id, char name[QZ_FIGURE_NAME]);

/* The number of the column of that name, QZ_NONE when there is none. */
uint32_t qz_figures__find(const char *name);

#endif
