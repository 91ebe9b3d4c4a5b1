/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of the kernel that threads queue for in calls and page faults: of a process' memory map, of an inode, and of the
 * position of a descriptor. Who waits for one sleeps without a signal and without input or output, and has marked the lock.
 */
#ifndef QUARTZ_KERNEL_LOCK_BPF_H
#define QUARTZ_KERNEL_LOCK_BPF_H

#define STATE_UNINTERRUPTIBLE 2
#define RWSEM_WAITERS	      2	   /* RWSEM_FLAG_WAITERS, since 5.3 */
#define MUTEX_WAITERS	      1	   /* MUTEX_FLAG_WAITERS, since 4.10 */
#define LOCK_FLAGS	      7ull /* of the owners of both */

/* A lock: its tag and the thread that has it, 0: not known. No tag: none is waited for. */
#define KERNEL_LOCK(tag, holder) ((u64)(tag) << 32 | (u32)(holder))
#define KERNEL_LOCK_TAG(lock)	 ((u32)((lock) >> 32))
#define KERNEL_LOCK_HOLDER(lock) ((u32)(lock))

/* A lock that a thread waits for. None if this thread holds it: then the thread waits for something else. */
static __always_inline u64 kernel_lock__of(u32 tag, u64 owner, u32 pid)
{
	struct task_struct *task = (void *)(owner & ~LOCK_FLAGS);
	u32 holder = task ? BPF_CORE_READ(task, pid) : 0;

	return holder == pid ? 0 : KERNEL_LOCK(tag, holder);
}

/* On kernels with real-time locks, that is not told. */
static __always_inline u64 kernel_lock__of_rwsem(struct rw_semaphore *lock, u32 tag, u32 pid)
{
	if (!bpf_core_field_exists(lock->count) ||
	    !(BPF_CORE_READ(lock, count.counter) & RWSEM_WAITERS))
		return 0;
	return kernel_lock__of(tag, BPF_CORE_READ(lock, owner.counter), pid);
}

static __always_inline u64 kernel_lock__of_map(u64 map, u32 pid)
{
	struct mm_struct *mm = (void *)map;

	return mm ? kernel_lock__of_rwsem(&mm->mmap_lock, QZ_TAG_MAP, pid) : 0;
}

static __always_inline u64 kernel_lock__of_file(u64 files, u64 fd, u32 pid)
{
	struct file *file = files__at((struct files_struct *)files, fd);
	u32 type = file__type((u64)file);
	u64 owner, found = 0;

	if (type != MODE_FILE && type != MODE_DIR)
		return 0;
	owner = BPF_CORE_READ(file, f_pos_lock.owner.counter);
	if (owner & MUTEX_WAITERS)
		found = kernel_lock__of(QZ_TAG_POSITION, owner, pid);
	return found
		       ?: kernel_lock__of_rwsem(&BPF_CORE_READ(file, f_inode)->i_rwsem,
						QZ_TAG_INODE, pid);
}

/* In a call, or an exception (-1). Not static: the verifier checks it once. */
__noinline u64 kernel_lock__in_call(u64 nr, u64 map, u64 files, u64 fd, u32 pid)
{
	switch (nr) {
	case -1ull:
	case ARCH_NR_MMAP:
	case ARCH_NR_MUNMAP:
	case ARCH_NR_MPROTECT:
	case ARCH_NR_MREMAP:
	case ARCH_NR_MADVISE:
	case ARCH_NR_BRK:
		return kernel_lock__of_map(map, pid);
	case ARCH_NR_READ:
	case ARCH_NR_WRITE:
	case ARCH_NR_READV:
	case ARCH_NR_WRITEV:
	case ARCH_NR_PREAD64:
	case ARCH_NR_PWRITE64:
	case ARCH_NR_PREADV:
	case ARCH_NR_PWRITEV:
	case ARCH_NR_PREADV2:
	case ARCH_NR_PWRITEV2:
	case ARCH_NR_LSEEK:
	case ARCH_NR_GETDENTS64:
	case ARCH_NR_FSYNC:
	case ARCH_NR_FTRUNCATE:
	case ARCH_NR_FALLOCATE:
		return kernel_lock__of_file(files, fd, pid);
	}
	return 0;
}

/* What a thread waits for that is about to leave in a state, or is found in it. */
static __always_inline u64 kernel_lock__find(struct task_struct *task, u32 state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (!(state & STATE_UNINTERRUPTIBLE) || BPF_CORE_READ_BITFIELD(task, in_iowait) ||
	    arch__is_compat(task))
		return 0;
	return kernel_lock__in_call(arch__syscall_nr(regs), (u64)BPF_CORE_READ(task, mm),
				    (u64)BPF_CORE_READ(task, files), arch__arg(regs, 1), task->pid);
}

#endif
