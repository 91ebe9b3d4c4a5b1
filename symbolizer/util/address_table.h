/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps addresses to procedures. Candidates may overlap in any way. Each address goes to the
 * candidate of the lowest rank that covers it; within a rank, to the one added last. A look-up is
 * one binary search.
 */
#ifndef QUARTZ_SYMBOLIZER_ADDRESS_TABLE_H
#define QUARTZ_SYMBOLIZER_ADDRESS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_MAX (4U << 20) /* most candidates */

enum procedure_flags {
	PROCEDURE_OUTERMOST = 1, /* it has no caller */
	PROCEDURE_PLT = 2,	 /* a stub that jumps to the procedure with this name */
	VARIABLE_NAMESAKE = 4,	 /* another variable of the module has the same name */
	PROCEDURE_ADA = 8,	 /* of a module with Ada code */
};

struct procedure {
	uint64_t start, end;
	const char *name; /* as in the file, borrowed; NULL: none */
	uint16_t rank;
	uint16_t flags; /* enum procedure_flags */
};

struct address_table;

/* NULL with errno ENOMEM. */
struct address_table *address_table__new(void);
void address_table__free(struct address_table *t);

/* Adds a candidate; an empty range is accepted and has no effect. -ENOMEM, -EFBIG. */
int address_table__add(struct address_table *t, const struct procedure *p);

/* Prepares look-ups; nothing can be added afterwards. 0 or -ENOMEM. */
int address_table__build(struct address_table *t);

/* The procedure at the address, or NULL. */
struct procedure *address_table__find(const struct address_table *t, uint64_t address);

size_t address_table__size(const struct address_table *t);

#endif
