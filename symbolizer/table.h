/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table from addresses to procedures.
 *
 * Candidates may overlap in any way. Each address goes to the candidate of the lowest rank that
 * covers it; within a rank to the one added later. A look-up is one binary search.
 */
#ifndef QUARTZ_SYMBOLIZER_TABLE_H
#define QUARTZ_SYMBOLIZER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_MAX (4U << 20) /* candidates */

enum procedure_flags {
	PROCEDURE_OUTERMOST = 1, /* nobody called it */
	PROCEDURE_PLT = 2,	 /* a stub that jumps to the procedure of that name */
	VARIABLE_NAMESAKE = 4,	 /* another variable of the module has the same name */
};

struct procedure {
	uint64_t start, end;
	const char *name; /* as in the file, borrowed; NULL when it has none */
	uint16_t rank;
	uint16_t flags; /* enum procedure_flags */
};

struct table;

/* NULL with errno ENOMEM. */
struct table *table__new(void);
void table__free(struct table *t);

/* Adds a candidate; an empty range is accepted and has no effect. -ENOMEM, -EFBIG. */
int table__add(struct table *t, const struct procedure *p);

/* Prepares look-ups; nothing is added afterwards. -ENOMEM. */
int table__build(struct table *t);

/* The procedure that has the address, or NULL. */
struct procedure *table__find(const struct table *t, uint64_t address);

size_t table__size(const struct table *t);

#endif
