/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the unwinder knows of x86-64 beside the rows of its tables. As unwind.bpf.h, which includes it,
 * it is also ordinary C.
 */
#ifndef QUARTZ_UNWIND_X86_BPF_H
#define QUARTZ_UNWIND_X86_BPF_H

/*
 * struct rt_sigframe after its return address was popped: ucontext at rsp, the registers of the
 * interrupted code in its uc_mcontext (arch/x86/include/uapi/asm/sigcontext.h). The interrupted
 * address is no return address, hence the 1 that is taken off again when it is looked up. The
 * stack may be another one than the handler's.
 */
static __always_inline int unwind__signal(struct unwinding *u)
{
	u64 saved[7]; /* rbp rbx rdx rax rcx rsp rip */

	if (bpf_probe_read_user(saved, sizeof(saved), (void *)(u->sp + 120)))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	u->led = u->depth;
	u->bp = saved[0];
	u->sp = saved[5];
	u->ip = saved[6] + 1;
	return 0;
}

/* Whether the instruction before an address is a call: e8 rel32, or ff with one of its operands. */
static __always_inline bool follows_call(u64 address)
{
	u8 code[8];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(address - sizeof(code))))
		return false;
	return code[3] == 0xe8 || (code[2] == 0xff && (code[3] & 0x38) == 0x10) || /* 6 bytes */
	       (code[6] == 0xff && ((code[7] & 0xf8) == 0xd0 || (code[7] & 0xf8) == 0x10)) ||
	       (code[5] == 0xff && ((code[6] & 0xf8) == 0x50 || code[6] == 0x14)) ||
	       (code[4] == 0xff && code[5] == 0x54) ||
	       (code[1] == 0xff && (code[2] & 0xf8) == 0x90);
}

/* In glibc's clone or clone3, at the system call: nothing is on the stack but the return address. */
static __always_inline int unwind__at_clone(struct unwinding *u)
{
	u64 ip;

	if (bpf_probe_read_user(&ip, sizeof(ip), (void *)u->sp))
		return unwind__stop(u, QZ_UNWIND_FAULT);
	return unwind__enter(u, u->sp + 8, ip);
}

#endif
