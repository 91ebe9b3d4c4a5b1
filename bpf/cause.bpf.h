/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a thread is about to wait, from the registers with which it entered the kernel. */
#ifndef QUARTZ_CAUSE_BPF_H
#define QUARTZ_CAUSE_BPF_H

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_READ		   0
#define NR_WRITE	   1
#define NR_POLL		   7
#define NR_PREAD64	   17
#define NR_PWRITE64	   18
#define NR_READV	   19
#define NR_WRITEV	   20
#define NR_SELECT	   23
#define NR_NANOSLEEP	   35
#define NR_SENDFILE	   40
#define NR_CONNECT	   42
#define NR_ACCEPT	   43
#define NR_SENDTO	   44
#define NR_RECVFROM	   45
#define NR_SENDMSG	   46
#define NR_RECVMSG	   47
#define NR_WAIT4	   61
#define NR_FUTEX	   202
#define NR_CLOCK_NANOSLEEP 230
#define NR_EPOLL_WAIT	   232
#define NR_WAITID	   247
#define NR_PSELECT6	   270
#define NR_PPOLL	   271
#define NR_SPLICE	   275
#define NR_TEE		   276
#define NR_EPOLL_PWAIT	   281
#define NR_ACCEPT4	   288
#define NR_RECVMMSG	   299
#define NR_SENDMMSG	   307
#define NR_EPOLL_PWAIT2	   441
#define NR_FUTEX_WAITV	   449
#define NR_FUTEX_WAKE	   454
#define NR_FUTEX_WAIT	   455
#define NR_FUTEX_REQUEUE   456
#define NR_X32_BIT	   0x40000000

#define STATE_STOPPED 0xcu /* __TASK_STOPPED | __TASK_TRACED, unchanged since 2.6.33 */
#define IO_WORKER_BIT 0x10 /* PF_IO_WORKER, since 5.12 */
#define COMPAT_BIT    2	   /* TS_COMPAT: in a 32-bit system call */
#define MODE_TYPE     0170000
#define MODE_FIFO     0010000
#define MODE_SOCKET   0140000

/* The inode behind a descriptor of the current thread, or NULL. */
static __always_inline struct inode *inode__of_fd(struct task_struct *task, u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (!fdt || (u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	files = BPF_CORE_READ(fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[(u32)fd]) || !file)
		return NULL;
	return BPF_CORE_READ(file, f_inode);
}

static __always_inline bool syscall__has_fd(u64 nr)
{
	switch (nr) {
	case NR_READ:
	case NR_WRITE:
	case NR_PREAD64:
	case NR_PWRITE64:
	case NR_READV:
	case NR_WRITEV:
	case NR_SENDFILE:
	case NR_CONNECT:
	case NR_ACCEPT:
	case NR_ACCEPT4:
	case NR_SENDTO:
	case NR_RECVFROM:
	case NR_SENDMSG:
	case NR_RECVMSG:
	case NR_RECVMMSG:
	case NR_SENDMMSG:
	case NR_SPLICE:
	case NR_TEE:
		return true;
	}
	return false;
}

static __always_inline bool syscall__is_futex(u64 nr)
{
	return nr == NR_FUTEX || nr == NR_FUTEX_WAITV ||
	       (nr >= NR_FUTEX_WAKE && nr <= NR_FUTEX_REQUEUE);
}

static __always_inline u32 cause__of_syscall(u64 nr)
{
	switch (nr) {
	case NR_POLL:
	case NR_PPOLL:
	case NR_SELECT:
	case NR_PSELECT6:
	case NR_EPOLL_WAIT:
	case NR_EPOLL_PWAIT:
	case NR_EPOLL_PWAIT2:
		return QZ_WAIT_POLL;
	case NR_NANOSLEEP:
	case NR_CLOCK_NANOSLEEP:
		return QZ_WAIT_SLEEP;
	case NR_WAIT4:
	case NR_WAITID:
		return QZ_WAIT_CHILD;
	}
	return nr < QZ_WAIT_CAUSES - QZ_WAIT_SYSCALL ? QZ_WAIT_SYSCALL + nr : QZ_WAIT_UNKNOWN;
}

static __always_inline u32 cause__of_fd(struct task_struct *task, u64 nr, u64 fd)
{
	struct inode *inode = inode__of_fd(task, fd);
	u32 type = inode ? BPF_CORE_READ(inode, i_mode) & MODE_TYPE : 0;

	if (type == MODE_FIFO)
		return QZ_WAIT_PIPE;
	if (type == MODE_SOCKET)
		return QZ_WAIT_SOCKET;
	return cause__of_syscall(nr);
}

/* state: of a thread that blocks, 0 for one that is preempted. */
static __always_inline u32 cause__find(struct task_struct *task, u32 state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 nr = regs->orig_ax;

	if (!state)
		return QZ_WAIT_PREEMPTED;
	if (state & STATE_STOPPED)
		return QZ_WAIT_STOPPED;
	if (task->flags & (IO_WORKER_BIT | PF_KTHREAD_BIT))
		return QZ_WAIT_KERNEL;
	if ((s64)nr == -1)
		return QZ_WAIT_PAGE_FAULT;
	if (task->thread_info.status & COMPAT_BIT)
		return QZ_WAIT_UNKNOWN;
	nr &= ~(u64)NR_X32_BIT;
	if (syscall__is_futex(nr))
		return QZ_WAIT_FUTEX;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return QZ_WAIT_DISK;
	return syscall__has_fd(nr) ? cause__of_fd(task, nr, regs->di) : cause__of_syscall(nr);
}

#endif
