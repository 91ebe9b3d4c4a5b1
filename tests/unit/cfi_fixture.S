/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures that do nothing, described in every way that occurs, and in some that must not.
 * test_cfi.c knows what is expected at which offset. SECTIONS is .eh_frame or .debug_frame.
 */
	.cfi_sections SECTIONS
	.text

.macro begin name
	.balign 16
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	nop
.endm

.macro end name
	nop
	.cfi_endproc
	.size	\name, . - \name
.endm

/* What a compiler writes: push rbp; mov rsp, rbp; and an early return in between. */
begin plain
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	.cfi_def_cfa_register %rbp
	nop
	.cfi_remember_state
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	nop
	.cfi_restore_state
	nop
	.cfi_undefined %rbx
	nop
	.cfi_def_cfa_offset 4112
end plain

/* Advances of more than 63 and of more than 255 bytes. */
begin wide
	.skip	99, 0x90
	.cfi_def_cfa_offset 24
	.skip	400, 0x90
	.cfi_def_cfa_offset 32
end wide

/* Rules that change and come back at one place make no row. */
begin same
	.cfi_def_cfa_offset 16
	.cfi_def_cfa_offset 8
	nop
	.cfi_same_value %rbp
	nop
	.cfi_escape 0x2e, 0x20 /* DW_CFA_GNU_args_size 32 */
end same

/* The forms that assemblers do not choose by themselves. */
begin factored
	.cfi_escape 0x12, 7, 0x7e    /* def_cfa_sf rsp, -2 * -8 */
	.cfi_escape 0x11, 6, 2	     /* offset_extended_sf rbp, 2 * -8 */
	nop
	.cfi_escape 0x13, 0x7d	     /* def_cfa_offset_sf -3 * -8 */
	.cfi_escape 0x05, 6, 3	     /* offset_extended rbp, 3 * -8 */
	nop
	.cfi_escape 0x06, 6	     /* restore_extended rbp */
	nop
	.cfi_escape 0x2f, 6, 4	     /* GNU_negative_offset_extended rbp, -4 * -8 */
end factored

/* perlasm: the old stack pointer was stored at rsp + 152. */
begin realigned_by_hand
	.cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 0x08
	.cfi_offset %rbp, -16
	nop
	.cfi_escape 0x0f, 3, 0x77, 0x10, 0x06 /* without + 8 */
	nop
	.cfi_def_cfa %rsp, 8
end realigned_by_hand

/* gcc: lea 8(rsp), r10; and -32, rsp; push -8(r10); push rbp; mov rsp, rbp; push r10 */
begin realigned_by_compiler
	.cfi_def_cfa %r10, 0
	nop
	.cfi_escape 0x10, 6, 2, 0x76, 0 /* expression rbp: breg6 0 */
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06 /* breg6 -8, deref */
end realigned_by_compiler

/* As GNU ld describes .plt, and with the threshold of a PLT for indirect branch tracking. */
begin linkage
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22
	nop
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x1c
end linkage

/* __restore_rt */
begin signal_frame
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06 /* breg7 160, deref */
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00    /* rbp: breg7 120 */
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01   /* rip: breg7 168 */
	nop
	.cfi_escape 0x10, 16, 3, 0x77, 0xb0, 0x01   /* rip elsewhere */
end signal_frame

/* Marked as a signal frame, and yet an ordinary one. */
begin signal_in_name_only
	.cfi_signal_frame
	nop
	.cfi_def_cfa_offset 16
end signal_in_name_only

begin outermost
	.cfi_undefined %rip
	nop
	.cfi_def_cfa_offset 16
end outermost

/* vfork */
begin return_in_register
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdi
	nop
	.cfi_def_cfa_offset 8
	nop
	.cfi_def_cfa_offset 24
end return_in_register

begin return_elsewhere
	.cfi_offset %rip, -16
	nop
	.cfi_same_value %rip
	nop
	.cfi_escape 0x16, 16, 2, 0x77, 0 /* val_expression rip: breg7 0 */
	nop
	.cfi_offset %rip, -8
end return_elsewhere

begin rbp_elsewhere
	.cfi_register %rbp, %r11
	nop
	.cfi_escape 0x14, 6, 2 /* val_offset rbp, 2 * -8 */
	nop
	.cfi_offset %rbp, -1024
	nop
	.cfi_offset %rbp, -1032
	nop
	.cfi_escape 0x10, 6, 2, 0x77, 0 /* expression rbp: breg7 0 */
	nop
	.cfi_undefined %rbp
end rbp_elsewhere

begin far_away
	.cfi_def_cfa_offset 262136
	nop
	.cfi_def_cfa_offset 262144
	nop
	.cfi_def_cfa_offset 12
	nop
	.cfi_def_cfa %rbx, 16
	nop
	.cfi_escape 0x0f, 2, 0x77, 0 /* breg7 0: an expression of another form */
	nop
	.cfi_def_cfa %rbp, 16
end far_away

/* The offset from before the expression is the one that counts. */
begin register_after_expression
	.cfi_def_cfa_offset 16
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
	nop
	.cfi_escape 0x0e, 24 /* def_cfa_offset */
	nop
	.cfi_escape 0x0d, 6 /* def_cfa_register rbp */
	nop
	.cfi_def_cfa %rsp, 8
end register_after_expression

begin broken_restore
	nop
	.cfi_escape 0x0b /* restore_state without remember_state */
	nop
	.cfi_def_cfa_offset 16
end broken_restore

begin broken_remember
	.rept 17
	.cfi_remember_state
	.endr
	nop
	.cfi_def_cfa_offset 16
end broken_remember

begin broken_instruction
	.cfi_def_cfa_offset 16
	nop
	.cfi_escape 0x3e
	nop
	.cfi_def_cfa_offset 24
end broken_instruction

	.balign 16
	.globl	undescribed
	.type	undescribed, @function
undescribed:
	.skip	16, 0x90
	.size	undescribed, . - undescribed

	.section .note.GNU-stack, "", @progbits
