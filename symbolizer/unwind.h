/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds a copy of an x86-64 user stack by the call frame information of the modules.
 */
#ifndef QUARTZ_SYMBOLIZER_UNWIND_H
#define QUARTZ_SYMBOLIZER_UNWIND_H

#include "symbolizer/module.h"

/* DWARF numbers of x86-64 registers. */
enum {
	DWARF_BX = 3,
	DWARF_BP = 6,
	DWARF_SP = 7,
	DWARF_R12 = 12,
	DWARF_RA = 16, /* here: the instruction pointer */
	DWARF_REGISTERS,
};

struct unwind_stack {
	uint64_t start; /* address of bytes[0] */
	const uint8_t *bytes;
	size_t size;
};

/*
 * Gives the module mapped at an address and the address inside it, or NULL. Called once per frame,
 * before the module is used.
 */
typedef struct module *(*unwind_find_fn)(void *arg, uint64_t address, uint64_t *vaddr);

/*
 * registers[] at the innermost frame; those not given by the caller are 0. Writes up to max return
 * addresses, the innermost instruction pointer first, and gives their number. *complete: the
 * outermost frame was reached.
 */
uint32_t unwind__stack(const uint64_t registers[DWARF_REGISTERS], const struct unwind_stack *stack,
		       unwind_find_fn find, void *arg, uint64_t *addresses, uint32_t max,
		       bool *complete);

#endif
