/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of processes and threads as quartzd has them. The kernel's own, task->pid and task->tgid, are
 * those of the initial pid namespace; quartzd, /proc and the user may be in another one, below it, as in
 * a container. All that quartzd gives and gets is in numbers of its namespace; what BPF programs
 * compare among themselves stays in the kernel's.
 */
#ifndef QUARTZ_NAMESPACE_BPF_H
#define QUARTZ_NAMESPACE_BPF_H

#define MAX_LEVELS 33 /* of pid namespaces: MAX_PID_NS_LEVEL (32) below the initial one */

const volatile __u32 pid_namespace; /* inode number of quartzd's; 0: the initial one */

/* The number that a struct pid has in quartzd's namespace; 0: none, it cannot be seen from there. */
__noinline int pid__number(u64 address)
{
	struct pid *pid = (struct pid *)address;
	u32 level = BPF_CORE_READ(pid, level);
	struct upid number = {};

	for (u32 i = 0; i < MAX_LEVELS; i++) {
		if (i > level || bpf_probe_read_kernel(&number, sizeof(number), &pid->numbers[i]))
			break;
		if (BPF_CORE_READ(number.ns, ns.inum) == pid_namespace)
			return number.nr;
	}
	return 0;
}

/* Of a thread that has not been released yet. */
static __always_inline u32 task__number(struct task_struct *task)
{
	return pid_namespace ? pid__number((u64)BPF_CORE_READ(task, thread_pid)) : task->pid;
}

static __always_inline u32 task__process_number(struct task_struct *task)
{
	if (!pid_namespace)
		return BPF_CORE_READ(task, tgid);
	return pid__number((u64)BPF_CORE_READ(task, group_leader, thread_pid));
}

/* The number of a thread in its own pid namespace. */
static __always_inline u32 task__tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), &pid->numbers[level].nr);
	return nr;
}

#endif
