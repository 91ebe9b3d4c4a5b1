/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The functions that gcc and clang call at the beginning of procedures compiled with -pg:
 * __fentry__ with -mfentry, before anything else; otherwise mcount, after %rbp was set. As in the
 * paper, the procedure is pushed, and its return address is replaced by code that pops it.
 *
 * All registers are preserved, because any may hold an argument or a result. The C functions called
 * use only general registers; the slow one is called with all others saved.
 */

#define SAVED 64 /* bytes that save_general pushes */

/* XSAVE's area in its standard form, without what is not used by the C library (AMX). */
#define STATE_SIZE 2816
#define STATE_MASK 0xe7

.macro push_register register
	pushq	\register
	.cfi_adjust_cfa_offset 8
.endm

.macro pop_register register
	popq	\register
	.cfi_adjust_cfa_offset -8
.endm

.macro save_general
	push_register %rax
	push_register %rcx
	push_register %rdx
	push_register %rsi
	push_register %rdi
	push_register %r8
	push_register %r9
	push_register %r10
.endm

.macro restore_general
	pop_register %r10
	pop_register %r9
	pop_register %r8
	pop_register %rdi
	pop_register %rsi
	pop_register %rdx
	pop_register %rcx
	pop_register %rax
.endm

.macro return_if_nobody_listens
	movq	library_generation(%rip), %r11
	cmpl	$0, (%r11)
	jne	1f
	ret
1:
.endm

	.text

	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 4
__fentry__:
	.cfi_startproc
	return_if_nobody_listens
	save_general
	movq	SAVED(%rsp), %rdi
	movq	SAVED + 8(%rsp), %rsi
	leaq	SAVED + 16(%rsp), %rdx
	call	hooks__called
	cmpl	$1, %eax
	jb	2f
	je	1f
	movq	SAVED(%rsp), %rdi
	movq	SAVED + 8(%rsp), %rsi
	leaq	SAVED + 16(%rsp), %rdx
	call	called_slowly
	testl	%eax, %eax
	je	2f
1:	restore_general
	/* A call instead of a store, so that the processor predicts the matching return. */
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %r11
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp	call_it
	.cfi_restore %rip
	.cfi_def_cfa_offset SAVED + 8
2:	restore_general
	ret
	.cfi_endproc
	.size	__fentry__, . - __fentry__

/* The return address is above the saved %rbp. */
	.globl	mcount, _mcount
	.type	mcount, @function
	.type	_mcount, @function
	.p2align 4
mcount:
_mcount:
	.cfi_startproc
	return_if_nobody_listens
	save_general
	movq	SAVED(%rsp), %rdi
	movq	8(%rbp), %rsi
	leaq	16(%rbp), %rdx
	call	hooks__called
	cmpl	$1, %eax
	jb	2f
	je	1f
	movq	SAVED(%rsp), %rdi
	movq	8(%rbp), %rsi
	leaq	16(%rbp), %rdx
	call	called_slowly
	testl	%eax, %eax
	je	2f
1:	leaq	quartz_return_(%rip), %r11
	movq	%r11, 8(%rbp)
2:	restore_general
	ret
	.cfi_endproc
	.size	mcount, . - mcount
	.size	_mcount, . - _mcount

/*
 * hooks__called_slowly asks quartzd, allocates and copies, and may use vector and floating-point
 * registers.
 */
	.type	called_slowly, @function
	.p2align 4
called_slowly:
	.cfi_startproc
	push_register %rbp
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	call	xsave__kind
	movl	%eax, %r8d
	popq	%rdx
	popq	%rsi
	popq	%rdi
	subq	$STATE_SIZE, %rsp
	andq	$-64, %rsp
	cmpl	$2, %r8d
	jne	1f
	movq	%rdx, %r8
	xorl	%eax, %eax
	leaq	512(%rsp), %r9
	movq	%rax, (%r9)
	movq	%rax, 8(%r9)
	movq	%rax, 16(%r9)
	movq	%rax, 24(%r9)
	movq	%rax, 32(%r9)
	movq	%rax, 40(%r9)
	movq	%rax, 48(%r9)
	movq	%rax, 56(%r9)
	xorl	%edx, %edx
	movl	$STATE_MASK, %eax
	xsave64	(%rsp)
	movq	%r8, %rdx
	call	hooks__called_slowly
	movl	%eax, %ebx
	xorl	%edx, %edx
	movl	$STATE_MASK, %eax
	xrstor64 (%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
	call	hooks__called_slowly
	movl	%eax, %ebx
	fxrstor64 (%rsp)
2:	movl	%ebx, %eax
	movq	-8(%rbp), %rbx
	.cfi_restore %rbx
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	called_slowly, . - called_slowly

/*
 * Procedures return here. The original return address is in the tables of returns.c, and the call
 * frame information makes unwinders look there, for exceptions, cancellation and debuggers. It is
 * an expression that starts from %rip; the code is in one block of 128 bytes, so that the block's
 * address is known. As pseudocode:
 *
 * 	for (t = library_returns.tables; t < library_returns.end; t++)
 * 		for (e = the entry at frame / 16 % RETURNS, n = RETURN_PROBES; n; e++, n--)
 * 			if (e->frame == frame)
 * 				return &e->address;
 * 	return &nowhere;
 *
 * where `frame` is %rsp after the return. The CFA is 8 more, because libgcc distinguishes frames by
 * their CFA, and that of the procedure was `frame` itself.
 */
	.p2align 7
	.skip	112
nowhere:
	.quad	0	/* 16 before the block */
returns_from_here:
	.quad	library_returns - .

	.globl	quartz_return_
	.hidden	quartz_return_
	.type	quartz_return_, @function
block:
	.cfi_startproc
	.cfi_def_cfa %rsp, 8
	/* DW_CFA_val_offset of register 7, %rsp: CFA - 8 */
	.cfi_escape 0x14, 0x07, 0x01
	/* DW_CFA_expression of register 16, %rip; 76 bytes: lit8, minus */
	.cfi_escape 0x10, 0x10, 0x4c, 0x38, 0x1c
	/* dup: libgcc does not let pick take the first element */
	.cfi_escape 0x12
	/* returns_from_here: breg16 0, const1s -128, and, lit8, minus; dup, deref, plus */
	.cfi_escape 0x80, 0x00, 0x09, 0x80, 0x1a, 0x38, 0x1c, 0x12, 0x06, 0x22
	/* dup, plus_uconst 8, deref, swap, deref: frame end t */
	.cfi_escape 0x12, 0x23, 0x08, 0x06, 0x16, 0x06
	/* outer: over, over, le, bra fail */
	.cfi_escape 0x14, 0x14, 0x2c, 0x28, 0x2c, 0x00
	/* dup, pick 3, const2u 0x3ff0, and, plus, lit8: frame end t e n */
	.cfi_escape 0x12, 0x15, 0x03, 0x0a, 0xf0, 0x3f, 0x1a, 0x22, 0x38
	/* inner: over, deref, pick 5, eq, bra found */
	.cfi_escape 0x14, 0x06, 0x15, 0x05, 0x29, 0x28, 0x15, 0x00
	/* swap, plus_uconst 16, swap, lit1, minus, dup, lit0, ne, bra inner */
	.cfi_escape 0x16, 0x23, 0x10, 0x16, 0x31, 0x1c, 0x12, 0x30, 0x2e, 0x28, 0xec, 0xff
	/* drop, drop, plus_uconst 16512, skip outer */
	.cfi_escape 0x13, 0x13, 0x23, 0x80, 0x81, 0x01, 0x2f, 0xd4, 0xff
	/* found: drop, plus_uconst 8, skip end */
	.cfi_escape 0x13, 0x23, 0x08, 0x2f, 0x07, 0x00
	/* fail: breg16 0, const1s -128, and, lit16, minus */
	.cfi_escape 0x80, 0x00, 0x09, 0x80, 0x1a, 0x40, 0x1c
call_it:
	call	*%r11
quartz_return_:
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	push_register %rax
	push_register %rdx
	leaq	24(%rsp), %rdi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	hooks__returns
	movq	%rax, 24(%rsp)
	.cfi_offset %rip, -16
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop_register %rdx
	pop_register %rax
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %r11
	jmp	*%r11
	.cfi_endproc
	.size	quartz_return_, . - quartz_return_

	.section .note.GNU-stack, "", @progbits
