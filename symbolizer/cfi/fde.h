/* SPDX-License-Identifier: GPL-2.0-only */
/* The procedures in .eh_frame: one for each frame description entry (FDE), without names. */
#ifndef QUARTZ_SYMBOLIZER_FDE_H
#define QUARTZ_SYMBOLIZER_FDE_H

#include "symbolizer/elf/elf_file.h"

struct fde {
	uint64_t start, end;
	bool outermost; /* its first rule makes the return address undefined */
};

/*
 * Reads all entries, sorted by start. Invalid entries are left out; a file without .eh_frame has
 * none. 0 or -ENOMEM. The caller frees *fdes.
 */
int fde__read_all(const struct elf_file *f, struct fde **fdes, size_t *n);

/* The entry that starts at the address, or NULL. */
const struct fde *fde__at(const struct fde *fdes, size_t n, uint64_t start);

/* The number of entries that start at or before the address. */
size_t fde__up_to(const struct fde *fdes, size_t n, uint64_t address);

#endif
