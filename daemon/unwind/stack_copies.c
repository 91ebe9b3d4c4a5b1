// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/stack_copies.h"

#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/unwind/unwind_index.h"

/* All tables are dropped before a walk when they have more rows than this: 16 MiB. */
#define ROWS_KEPT   (2U << 20)
#define TABLES_KEPT 256
#define MAX_ROWS    (8U << 20) /* of one walk, with what was kept: the rest is walked without */

struct table {
	int module;
	uint32_t first, count;	/* rows; count 0: there can be none */
	uint32_t blocks, block; /* see struct qz_unwind_region */
	struct symbolizer_table layout;
};

struct stack_copies {
	struct symbolizer *symbolizer;
	struct table *tables;
	uint32_t ntables;
	struct qz_unwind_row *rows; /* of all tables, one after the other */
	uint32_t nrows;
};

struct stack_copies *stack_copies__new(struct symbolizer *symbolizer)
{
	struct stack_copies *c = calloc(1, sizeof(*c));

	if (c)
		c->symbolizer = symbolizer;
	return c;
}

static void drop_tables(struct stack_copies *c)
{
	free(c->tables);
	free(c->rows);
	c->tables = NULL;
	c->rows = NULL;
	c->ntables = c->nrows = 0;
}

void stack_copies__free(struct stack_copies *c)
{
	if (!c)
		return;
	drop_tables(c);
	free(c);
}

/* ---- tables ---- */

static const struct table *find_table(const struct stack_copies *c, int module)
{
	for (uint32_t i = 0; i < c->ntables; i++)
		if (c->tables[i].module == module)
			return &c->tables[i];
	return NULL;
}

/* n rows, after an index. */
static void keep_rows(struct stack_copies *c, struct table *table, const struct qz_unwind_row *rows,
		      uint32_t blocks, uint32_t n)
{
	uint32_t all = blocks + n;
	struct qz_unwind_row *more;

	if (all > MAX_ROWS - c->nrows)
		return;
	more = reallocarray(c->rows, c->nrows + all, sizeof(*more));
	if (!more)
		return;
	memcpy(more + c->nrows, rows, all * sizeof(*rows));
	table->first = c->nrows + blocks;
	table->count = n;
	table->blocks = blocks;
	table->block = QZ_UNWIND_BLOCK(rows[blocks].pc);
	c->rows = more;
	c->nrows += all;
}

/* NULL: it cannot be had now. */
static const struct table *build_table(struct stack_copies *c, int module)
{
	struct table table = {.module = module}, *added = NULL;
	struct qz_unwind_row *rows = NULL;
	uint32_t n = 0, blocks;
	int err = symbolizer__unwind_table(c->symbolizer, module, &rows, &n, &table.layout);

	if (!symbolizer__is_passing(err) &&
	    !qz_array__reserve((void **)&c->tables, c->ntables, sizeof(*c->tables))) {
		if (!err) {
			blocks = unwind_index__add(&rows, n, 0);
			keep_rows(c, &table, rows, blocks, n);
		}
		added = &c->tables[c->ntables++];
		*added = table;
	}
	if (!err)
		free(rows);
	return added;
}

/* ---- regions ---- */

static void fill_region(const struct stack_copies_region *r, const struct table *table,
			struct qz_unwind_region *to)
{
	uint64_t vaddr;

	to->first = 0;
	if (!table || !table->count || !symbolizer_table__vaddr(&table->layout, r->offset, &vaddr))
		return;
	to->bias = r->start - (vaddr - table->layout.base);
	to->first = table->first;
	to->count = table->count;
	to->blocks = table->blocks;
	to->block = table->block;
}

static struct qz_unwind_region *make_regions(const struct stack_copies *c,
					     const struct stack_copies_region *regions, uint32_t n)
{
	struct qz_unwind_region *all = calloc(n + 1UL, sizeof(*all));

	for (uint32_t i = 0; all && i < n; i++) {
		const struct table *table = find_table(c, regions[i].module);

		all[i].start = regions[i].start;
		all[i].end = regions[i].end;
		if (table || regions[i].module < 0)
			fill_region(&regions[i], table, &all[i]);
		else
			all[i].first = QZ_UNWIND_PENDING;
	}
	return all;
}

/* The tables that a walk has missed. False: none. */
static bool build_wanted(struct stack_copies *c, const struct stack_copies_region *regions,
			 struct qz_unwind_region *all, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct table *table;

		if (all[i].count || all[i].first != QZ_UNWIND_WANTED)
			continue;
		any = true;
		table = build_table(c, regions[i].module);
		for (uint32_t k = 0; k < n; k++)
			if (regions[k].module == regions[i].module)
				fill_region(&regions[k], table, &all[k]);
	}
	return any;
}

/* ---- walking ---- */

static bool read_copy(void *arg, uint64_t address, void *to, size_t size)
{
	const struct stack_copy *copy = arg;
	uint64_t at = address - copy->regs.sp;

	if (at > copy->size || copy->size - at < size)
		return false;
	memcpy(to, (const char *)copy->bytes + at, size);
	return true;
}

/*
 * Wherever the thread is: at the innermost frame, code without a row is taken for the end of glibc's clone,
 * where nothing is on the stack but the return address.
 */
void stack_copies__walk(struct stack_copies *c, const struct stack_copies_region *regions,
			uint32_t nregions, const struct stack_copy *copy,
			struct unwinder_stack *stack)
{
	const struct unwinder_start start = {
		.ip = copy->regs.ip,
		.sp = copy->regs.sp,
		.bp = copy->regs.bp,
		.at_clone = 1,
	};
	struct qz_unwind_region *all;
	struct unwinder w;

	if (c->nrows > ROWS_KEPT || c->ntables > TABLES_KEPT)
		drop_tables(c);
	all = make_regions(c, regions, nregions);
	if (!all)
		nregions = 0;
	do {
		w = (struct unwinder) {
			.regions = all,
			.nregions = nregions,
			.rows = c->rows,
			.nrows = c->nrows,
			.read = read_copy,
			.arg = (void *)copy,
			.no_code = true,
		};
		unwinder__walk(&w, &start, stack);
	} while (build_wanted(c, regions, all, nregions));
	free(all);
}
