/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of variables by address: from symbol tables, and from DWARF down to the member.
 */
#ifndef QUARTZ_SYMBOLIZER_VARIABLES_H
#define QUARTZ_SYMBOLIZER_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "symbolizer/elf_file.h"
#include "symbolizer/name.h"

struct variables;

/*
 * Reads the symbols of data of both files; debug and dwarf may be NULL. All of them must outlive
 * the result. NULL with errno: ENOMEM, EFBIG.
 */
struct variables *variables__new(const struct elf_file *file, const struct elf_file *debug,
				 Dwarf *dwarf);
void variables__free(struct variables *v);

/*
 * Writes what is at a virtual address: "lock", "pool.lock", "pool+0x28". `distance`: how far behind
 * the beginning of an object the address is, where only the symbol is known. false: no variable.
 */
bool variables__name(const struct variables *v, uint64_t vaddr, uint32_t distance,
		     struct name *out);

#endif
