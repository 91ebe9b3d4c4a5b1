/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: see bpf/arch.bpf.h for what each of these is. */
#ifndef QUARTZ_ARCH_X86_BPF_H
#define QUARTZ_ARCH_X86_BPF_H

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define ARCH_NR_READ		0
#define ARCH_NR_WRITE		1
#define ARCH_NR_POLL		7
#define ARCH_NR_LSEEK		8
#define ARCH_NR_MMAP		9
#define ARCH_NR_MPROTECT	10
#define ARCH_NR_MUNMAP		11
#define ARCH_NR_BRK		12
#define ARCH_NR_PREAD64		17
#define ARCH_NR_PWRITE64	18
#define ARCH_NR_READV		19
#define ARCH_NR_WRITEV		20
#define ARCH_NR_SELECT		23
#define ARCH_NR_MREMAP		25
#define ARCH_NR_MADVISE		28
#define ARCH_NR_NANOSLEEP	35
#define ARCH_NR_SENDFILE	40
#define ARCH_NR_CONNECT		42
#define ARCH_NR_ACCEPT		43
#define ARCH_NR_SENDTO		44
#define ARCH_NR_RECVFROM	45
#define ARCH_NR_SENDMSG		46
#define ARCH_NR_RECVMSG		47
#define ARCH_NR_CLONE		56
#define ARCH_NR_FORK		57
#define ARCH_NR_VFORK		58
#define ARCH_NR_EXIT		60
#define ARCH_NR_WAIT4		61
#define ARCH_NR_SEMOP		65
#define ARCH_NR_FCNTL		72
#define ARCH_NR_FLOCK		73
#define ARCH_NR_FSYNC		74
#define ARCH_NR_FTRUNCATE	77
#define ARCH_NR_FUTEX		202
#define ARCH_NR_GETDENTS64	217
#define ARCH_NR_SEMTIMEDOP	220
#define ARCH_NR_CLOCK_NANOSLEEP 230
#define ARCH_NR_EPOLL_WAIT	232
#define ARCH_NR_WAITID		247
#define ARCH_NR_PSELECT6	270
#define ARCH_NR_PPOLL		271
#define ARCH_NR_SPLICE		275
#define ARCH_NR_TEE		276
#define ARCH_NR_EPOLL_PWAIT	281
#define ARCH_NR_FALLOCATE	285
#define ARCH_NR_ACCEPT4		288
#define ARCH_NR_PREADV		295
#define ARCH_NR_PWRITEV		296
#define ARCH_NR_RECVMMSG	299
#define ARCH_NR_SENDMMSG	307
#define ARCH_NR_PREADV2		327
#define ARCH_NR_PWRITEV2	328
#define ARCH_NR_IO_URING_ENTER	426
#define ARCH_NR_CLONE3		435
#define ARCH_NR_EPOLL_PWAIT2	441
#define ARCH_NR_FUTEX_WAITV	449
#define ARCH_NR_FUTEX_WAKE	454
#define ARCH_NR_FUTEX_WAIT	455
#define ARCH_NR_FUTEX_REQUEUE	456

#define NR_X32_BIT 0x40000000
#define COMPAT_BIT 2 /* TS_COMPAT: in a 32-bit system call */

static __always_inline u64 arch__syscall_nr(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline u64 arch__native_nr(u64 nr)
{
	return nr & ~(u64)NR_X32_BIT;
}

static __always_inline bool arch__is_compat(struct task_struct *task)
{
	return task->thread_info.status & COMPAT_BIT;
}

static __always_inline u64 arch__thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

#define ARCH_EACH_REGISTER(X)                                                                      \
	X(0, ax)                                                                                   \
	X(1, cx)                                                                                   \
	X(2, dx)                                                                                   \
	X(3, bx)                                                                                   \
	X(4, sp)                                                                                   \
	X(5, bp)                                                                                   \
	X(6, si)                                                                                   \
	X(7, di)                                                                                   \
	X(8, r8)                                                                                   \
	X(9, r9)                                                                                   \
	X(10, r10)                                                                                 \
	X(11, r11)                                                                                 \
	X(12, r12)                                                                                 \
	X(13, r13)                                                                                 \
	X(14, r14)                                                                                 \
	X(15, r15)

#endif
