/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of an ELF file by virtual address: from the symbol tables of the file and of its
 * separate debug file, from its PLT, and, where there is no symbol, from .eh_frame.
 */
#ifndef QUARTZ_SYMBOLIZER_PROCEDURE_TABLE_H
#define QUARTZ_SYMBOLIZER_PROCEDURE_TABLE_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/address_table.h"

/*
 * debug may be NULL. Names in the table point into file and debug, which must outlive it. NULL
 * with errno ENOMEM, EFBIG.
 */
struct address_table *procedure_table__new(const struct elf_file *file,
					   const struct elf_file *debug);

#endif
