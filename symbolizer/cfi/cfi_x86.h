/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers in call frame information of x86-64. */
#ifndef QUARTZ_SYMBOLIZER_CFI_X86_H
#define QUARTZ_SYMBOLIZER_CFI_X86_H

#include <elf.h>

#define CFI_MACHINE EM_X86_64

/* DWARF numbers of registers. */
enum {
	CFI_FP = 6,
	CFI_SP = 7,
	CFI_RA = 16, /* the instruction pointer, for the return address */
};

#endif
