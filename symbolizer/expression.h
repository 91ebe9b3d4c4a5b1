/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evaluates the DWARF expressions of call frame information over copied registers and stack.
 */
#ifndef QUARTZ_SYMBOLIZER_EXPRESSION_H
#define QUARTZ_SYMBOLIZER_EXPRESSION_H

#include "symbolizer/unwind.h"

struct expression_input {
	const uint64_t *registers; /* DWARF_REGISTERS of them */
	const struct unwind_stack *stack;
	uint64_t cfa;
};

/*
 * *is_value: the result is the value itself, otherwise the address of the value. -EINVAL for
 * expressions that do not occur in call frame information (branches, other memory), -EFAULT.
 */
int expression__evaluate(const Dwarf_Op *ops, size_t n, const struct expression_input *in,
			 uint64_t *result, bool *is_value);

/* Reads a word of the stack copy. */
bool expression__read(const struct unwind_stack *stack, uint64_t address, uint64_t *value);

#endif
