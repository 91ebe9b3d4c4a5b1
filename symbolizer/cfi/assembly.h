/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind rows of hand-written assembly without call frame information, derived from its instructions.
 * The stack pointer is followed from where procedures begin along the control flow.
 */
#ifndef QUARTZ_SYMBOLIZER_ASSEMBLY_H
#define QUARTZ_SYMBOLIZER_ASSEMBLY_H

#include "symbolizer/cfi/cfi_machine.h"

/*
 * Writes rows, marked QZ_UNWIND_DERIVED, for the code that stands at [from, to), where nothing is
 * described; *budget is of instructions, and is used up. Rows of kind QZ_CFA_NONE, with the same mark, where it does not
 * come out, and where there is no code; behind it all one that is not. -ENOMEM, or what cfi_rows__emit gives.
 */
int assembly__derive(struct cfi_rows *rows, const uint8_t *bytes, size_t size, uint64_t from,
		     uint32_t *budget);

/* Bytes up to where the procedure ends that begins at bytes[0]; at most `size`. */
size_t assembly__extent(const uint8_t *bytes, size_t size);

#endif
