/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_SYMBOLIZER_PLT_H
#define QUARTZ_SYMBOLIZER_PLT_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/address_table.h"

/*
 * Adds the stubs of the procedure linkage table, named after the procedures that they jump to.
 * x86-64 only. 0, -ENOMEM or -EFBIG.
 */
int plt__add_stubs(const struct elf_file *f, struct address_table *t, uint16_t rank);

#endif
