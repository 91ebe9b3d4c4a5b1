/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables: executes the call frame instructions of a file and writes down, for each
 * range of addresses, the rules that the unwinder in BPF needs.
 */
#ifndef QUARTZ_SYMBOLIZER_CFI_H
#define QUARTZ_SYMBOLIZER_CFI_H

#include "symbolizer/elf/elf_file.h"
#include "include/quartz/symbolizer.h"

struct cfi_table {
	struct qz_unwind_row *rows; /* by pc, no two with the same */
	uint32_t n;
	uint64_t base; /* virtual address of pc 0 */
	uint32_t nsegments;
	struct elf_segment segments[TABLE_MAX_SEGMENTS]; /* those with code */
	struct qz_unwind_stats stats;
};

/*
 * Builds the table from .eh_frame and .debug_frame; nothing is read of the code, unless these describe less than half of it
 * and it is not large: then what they leave out has rows as of cfi__derive. Where entries overlap, the one that starts later
 * has the address, and what it interrupts does not go on behind it; of two that start together
 * .eh_frame's. An entry point that nothing describes is outermost.
 *
 * -ENODATA: nothing is described, or the machine is another one; -E2BIG: above the limits for
 * segments, sections, entries, instructions or rows, or code is further than 4 GiB from the base;
 * -ENOEXEC, -ENOMEM. The caller calls cfi__free, also on failure.
 */
int cfi__build(const struct elf_file *f, struct cfi_table *t);

/*
 * Makes the rows of the code at [from, to), which nothing describes, as assembly.h has it; nothing else is read. At most
 * a million instructions of each section. -ENODATA: there is no code, or the machine is another one; else as cfi__build.
 */
int cfi__derive(const struct elf_file *f, uint64_t from, uint64_t to, struct cfi_table *t);

void cfi__free(struct cfi_table *t);

#endif
