/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of variables by address, from symbol tables, and, down to the member, from DWARF. */
#ifndef QUARTZ_SYMBOLIZER_DATA_SYMBOLS_H
#define QUARTZ_SYMBOLIZER_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/name.h"

struct data_symbols;

/*
 * Reads the data symbols of both files; debug and dwarf may be NULL. All of them must outlive the
 * result. NULL with errno: ENOMEM, EFBIG.
 */
struct data_symbols *data_symbols__new(const struct elf_file *file, const struct elf_file *debug,
				       Dwarf *dwarf);
void data_symbols__free(struct data_symbols *v);

/*
 * Writes the name of a virtual address: "lock", "pool.lock", "pool+0x28". `distance`: how far after
 * the beginning of an object the address is, if only the symbol is known. False: no variable.
 */
bool data_symbols__name(const struct data_symbols *v, uint64_t vaddr, uint32_t distance,
			struct name *out);

#endif
