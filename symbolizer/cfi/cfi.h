/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds unwind tables: executes the call frame instructions of a file, and writes for each range
 * of addresses the rules that the unwinder in BPF needs.
 */
#ifndef QUARTZ_SYMBOLIZER_CFI_H
#define QUARTZ_SYMBOLIZER_CFI_H

#include "symbolizer/elf/elf_file.h"
#include "include/quartz/symbolizer.h"

struct cfi_table {
	struct qz_unwind_row *rows; /* sorted by pc, no two with the same */
	uint32_t n;
	uint64_t base; /* virtual address of pc 0 */
	uint32_t nsegments;
	struct elf_segment segments[TABLE_MAX_SEGMENTS]; /* segments with code */
	struct qz_unwind_stats stats;
};

/*
 * Builds the table from .eh_frame and .debug_frame. Code is read only if these describe less than
 * half of it and it is not large; then the rest has rows as from cfi__derive(). Where entries
 * overlap, the one that starts later wins, and the interrupted one does not continue after it; of
 * two with the same start, that of .eh_frame wins. An entry point without an entry is outermost.
 * -ENODATA: no entries, or another machine; -E2BIG: above the limits for segments, sections,
 * entries, instructions or rows, or code farther than 4 GiB from the base; -ENOEXEC, -ENOMEM. The
 * caller calls cfi__free(), also on failure.
 */
int cfi__build(const struct elf_file *f, struct cfi_table *t);

/*
 * Derives rows for the code at [from, to), which has no entries (assembly.h), and reads nothing
 * else. At most a million instructions of each section. -ENODATA: there is no code, or another
 * machine; else as cfi__build().
 */
int cfi__derive(const struct elf_file *f, uint64_t from, uint64_t to, struct cfi_table *t);

void cfi__free(struct cfi_table *t);

#endif
