/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of the code symbols, or of the variables, of a module: unsorted at first, with aliases,
 * some without a size.
 */
#ifndef QUARTZ_SYMBOLIZER_SYMBOLS_H
#define QUARTZ_SYMBOLIZER_SYMBOLS_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/address_table.h"

/* Precedence of symbols that cover the same address, the highest first; FDEs come last. */
enum symbol_rank {
	SYMBOL_SIZED,	/* a procedure with a size */
	SYMBOL_UNSIZED, /* a procedure without a size, or a label */
	SYMBOL_RANKS,
};

/* start == end: the size is unknown. */
struct symbols {
	struct procedure *all;
	size_t n, room;
};

/* 0, -ENOMEM or -EFBIG. */
int symbols__add(struct symbols *s, const struct procedure *p);

/*
 * Adds the procedures and code labels that a table (SHT_SYMTAB or SHT_DYNSYM) of `from` has in the
 * code of `file`. A missing or invalid table adds nothing. 0, -ENOMEM or -EFBIG.
 */
int symbols__read(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		  uint32_t table);

/* Adds the variables with an address and a size; returns the same. */
int symbols__read_data(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		       uint32_t table);

struct symbol_value {
	uint64_t value, size;
};

/*
 * Finds an exported symbol (SHT_DYNSYM), code or data, by its name. False: none, or the table is
 * invalid. Slow, since it searches the whole table.
 */
bool symbols__look_up(const struct elf_file *file, const char *name, struct symbol_value *found);

/* The starts of the symbols with these n names; 0: none. Slow, so it takes all names at once. */
void symbols__find(const struct symbols *s, const char *const *names, size_t n, uint64_t *starts);

/*
 * Sorts, and keeps only the symbol with the best name of those that start at the same address. 0 or
 * -ENOMEM.
 */
int symbols__sort(struct symbols *s);

void symbols__free(struct symbols *s);

#endif
