/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of registers in x86-64 instructions; included by insn.h. */
#ifndef QUARTZ_SYMBOLIZER_INSN_X86_H
#define QUARTZ_SYMBOLIZER_INSN_X86_H

#define DECODER_SP 4
#define DECODER_FP 5

/* Registers that a call may change. */
#define DECODER_CALLER_SAVED                                                                       \
	(REGISTER_BOTH(0) | REGISTER_BOTH(1) | REGISTER_BOTH(2) | REGISTER_BOTH(6) |               \
	 REGISTER_BOTH(7) | REGISTER_BOTH(8) | REGISTER_BOTH(9) | REGISTER_BOTH(10) |              \
	 REGISTER_BOTH(11) | REGISTER_FLAGS)

#endif
