/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a thread is about to wait, from the registers with which it entered the kernel. */
#ifndef QUARTZ_WAIT_CAUSE_BPF_H
#define QUARTZ_WAIT_CAUSE_BPF_H

#define STATE_STOPPED 0xcu /* __TASK_STOPPED | __TASK_TRACED, unchanged since 2.6.33 */
/*
 * Of the freezer of cgroup v1, and of the machine: a state since Linux 6.1, f5d39b020809, and before that a flag,
 * PF_FROZEN, which no thread of a program has had since. The flag may go with 6.0.
 */
#define STATE_FROZEN 0x8000u
#define FROZEN_BIT   0x00010000
#define TRAP_FREEZE  (1ull << 23) /* JOBCTL_TRAP_FREEZE of cgroup v2, since 5.2 */

static __always_inline bool syscall__has_fd(u64 nr)
{
	switch (nr) {
	case ARCH_NR_READ:
	case ARCH_NR_WRITE:
	case ARCH_NR_PREAD64:
	case ARCH_NR_PWRITE64:
	case ARCH_NR_READV:
	case ARCH_NR_WRITEV:
	case ARCH_NR_SENDFILE:
	case ARCH_NR_CONNECT:
	case ARCH_NR_ACCEPT:
	case ARCH_NR_ACCEPT4:
	case ARCH_NR_SENDTO:
	case ARCH_NR_RECVFROM:
	case ARCH_NR_SENDMSG:
	case ARCH_NR_RECVMSG:
	case ARCH_NR_RECVMMSG:
	case ARCH_NR_SENDMMSG:
	case ARCH_NR_SPLICE:
	case ARCH_NR_TEE:
		return true;
	}
	return false;
}

static __always_inline bool syscall__is_futex(u64 nr)
{
	return nr == ARCH_NR_FUTEX || nr == ARCH_NR_FUTEX_WAITV ||
	       (nr >= ARCH_NR_FUTEX_WAKE && nr <= ARCH_NR_FUTEX_REQUEUE);
}

static __always_inline u32 wait_cause__of_syscall(u64 nr)
{
	switch (nr) {
	case ARCH_NR_POLL:
	case ARCH_NR_PPOLL:
	case ARCH_NR_SELECT:
	case ARCH_NR_PSELECT6:
	case ARCH_NR_EPOLL_WAIT:
	case ARCH_NR_EPOLL_PWAIT:
	case ARCH_NR_EPOLL_PWAIT2:
		return QZ_WAIT_POLL;
	case ARCH_NR_NANOSLEEP:
	case ARCH_NR_CLOCK_NANOSLEEP:
		return QZ_WAIT_SLEEP;
	case ARCH_NR_WAIT4:
	case ARCH_NR_WAITID:
		return QZ_WAIT_CHILD;
	}
	return nr < QZ_WAIT_CAUSES - QZ_WAIT_SYSCALL ? QZ_WAIT_SYSCALL + nr : QZ_WAIT_UNKNOWN;
}

static __always_inline u32 wait_cause__of_fd(struct task_struct *task, u64 nr, u64 fd)
{
	switch (file__type((u64)file__of_fd(task, fd))) {
	case MODE_FIFO:
		return QZ_WAIT_PIPE;
	case MODE_SOCKET:
		return QZ_WAIT_SOCKET;
	}
	return wait_cause__of_syscall(nr);
}

/* That of v2 has its threads sleep as in a call; parents of vfork have `frozen`, too. */
static __always_inline bool task__is_frozen(struct task_struct *task, u32 state)
{
	if (state & STATE_FROZEN || task->flags & FROZEN_BIT)
		return true;
	return bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen) &&
	       task->jobctl & TRAP_FREEZE;
}

/* Why a thread cannot go on whatever it does, in a call or in its own code; 0: it waits for what it asked for. */
static __always_inline u32 wait_cause__of_state(struct task_struct *task, u32 state)
{
	if (state & STATE_STOPPED)
		return QZ_WAIT_STOPPED;
	if (task__is_frozen(task, state))
		return QZ_WAIT_FROZEN;
	return 0;
}

/* state: of a thread that blocks, 0 for one that is preempted. Not inline: its stack is not to be that of walks. */
static __noinline u32 wait_cause__find(struct task_struct *task, u32 state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 nr = arch__syscall_nr(regs);
	u32 cause;

	if (!state)
		return QZ_WAIT_PREEMPTED;
	if (task__is_kernels(task))
		return QZ_WAIT_KERNEL;
	cause = wait_cause__of_state(task, state);
	if (cause)
		return cause;
	if (KERNEL_LOCK_TAG(kernel_lock__find(task, state)) == QZ_TAG_MAP)
		return QZ_WAIT_MAP_LOCK;
	if ((s64)nr == -1)
		return QZ_WAIT_PAGE_FAULT;
	if (arch__is_compat(task))
		return QZ_WAIT_UNKNOWN;
	nr = arch__native_nr(nr);
	if (syscall__is_futex(nr))
		return QZ_WAIT_FUTEX;
	if (nr == ARCH_NR_IO_URING_ENTER)
		return io_uring__cause((u64)BPF_CORE_READ(task, files), io_uring__of_task(task),
				       arch__arg(regs, 1), arch__arg(regs, 4));
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return QZ_WAIT_DISK;
	return syscall__has_fd(nr) ? wait_cause__of_fd(task, nr, arch__arg(regs, 1))
				   : wait_cause__of_syscall(nr);
}

#endif
