/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What depends on the processor architecture, in a file for each. It has
 *
 *  ARCH_NR_*		numbers of system calls; one that the architecture has not is a number that none has
 *  arch__syscall_nr	of the call that a thread is in, -1: of an exception or interrupt
 *  arch__native_nr	the same without what tells one ABI of the architecture from another
 *  arch__is_compat	whether the call is one of the 32-bit ABI, whose numbers are others
 *  arch__thread_pointer	where thread-local variables are
 *  ARCH_EACH_REGISTER	X(number as instructions have it, member of struct pt_regs)
 *
 * The other registers and arguments have names that libbpf knows for each architecture. How frames are left
 * is in bpf/unwind_*.bpf.h.
 */
#ifndef QUARTZ_ARCH_BPF_H
#define QUARTZ_ARCH_BPF_H

#ifdef __TARGET_ARCH_x86
#include "bpf/arch_x86.bpf.h"
#else
#error "no bpf/arch_*.bpf.h for this architecture"
#endif

static __always_inline u64 arch__ip(const struct pt_regs *regs)
{
	return PT_REGS_IP(regs);
}

static __always_inline u64 arch__sp(const struct pt_regs *regs)
{
	return PT_REGS_SP(regs);
}

static __always_inline u64 arch__fp(const struct pt_regs *regs)
{
	return PT_REGS_FP(regs);
}

/* What a system call has given, 0 in the thread or process that it has made. */
static __always_inline u64 arch__result(const struct pt_regs *regs)
{
	return PT_REGS_RC(regs);
}

/* The nth argument of the system call, from 1. */
#define arch__arg(regs, n) PT_REGS_PARM##n##_SYSCALL(regs)

#endif
