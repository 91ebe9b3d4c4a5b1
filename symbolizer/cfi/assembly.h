/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Derives unwind rows for hand-written assembly without call frame information from its
 * instructions: follows the stack pointer along the control flow from where procedures begin.
 */
#ifndef QUARTZ_SYMBOLIZER_ASSEMBLY_H
#define QUARTZ_SYMBOLIZER_ASSEMBLY_H

#include "symbolizer/cfi/cfi_machine.h"

/*
 * Writes rows, marked QZ_UNWIND_DERIVED, for the code at [from, from + size). *budget: instructions
 * that may be decoded; it is decremented. Addresses without code, or with contradicting results,
 * have rows of kind QZ_CFA_NONE with the same mark; after the end comes one without the mark. 0,
 * -ENOMEM, or as cfi_rows__emit.
 */
int assembly__derive(struct cfi_rows *rows, const uint8_t *bytes, size_t size, uint64_t from,
		     uint32_t *budget);

/* Length of the procedure that begins at bytes[0]; at most `size`. */
size_t assembly__extent(const uint8_t *bytes, size_t size);

#endif
