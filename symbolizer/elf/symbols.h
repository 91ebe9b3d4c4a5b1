/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A list of the code symbols or of the variables of a module, as they are found: in any order, with
 * aliases, some without a size.
 */
#ifndef QUARTZ_SYMBOLIZER_SYMBOLS_H
#define QUARTZ_SYMBOLIZER_SYMBOLS_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/address_table.h"

/* Precedence of symbols that cover the same address; FDEs come last. */
enum symbol_rank {
	SYMBOL_SIZED,	/* a procedure with a size */
	SYMBOL_UNSIZED, /* a procedure without, or a label */
	SYMBOL_RANKS,
};

/* start == end: the size is not known. */
struct symbols {
	struct procedure *all;
	size_t n, room;
};

/* -ENOMEM, -EFBIG. */
int symbols__add(struct symbols *s, const struct procedure *p);

/*
 * Adds the procedures and code labels that a table (SHT_SYMTAB or SHT_DYNSYM) of `from` places in
 * the code of `file`. A table that is missing or makes no sense adds nothing. -ENOMEM, -EFBIG.
 */
int symbols__read(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		  uint32_t table);

/* Reads the variables that have an address and a size. */
int symbols__read_data(struct symbols *s, const struct elf_file *file, const struct elf_file *from,
		       uint32_t table);

struct symbol_value {
	uint64_t value, size;
};

/* Finds what a file exports by that name (SHT_DYNSYM), code or data. False: nothing, or the table makes no sense. Slow, as below. */
bool symbols__look_up(const struct elf_file *file, const char *name, struct symbol_value *found);

/* The starts of the symbols of n names, or 0. Slow, so all are looked for at once. */
void symbols__find(const struct symbols *s, const char *const *names, size_t n, uint64_t *starts);

/* Sorts, and keeps only the symbol with the best name of those that start at the same address. 0 or -ENOMEM. */
int symbols__sort(struct symbols *s);

void symbols__free(struct symbols *s);

#endif
