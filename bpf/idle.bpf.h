/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle time of a processor: counted at switches to and from its idle task. The kernel keeps an account of its own, which
 * leaves out the way into idle and back. It tells how long the processor was idle where a switch to or from the idle task
 * was not seen. To keep what it leaves out small, ours is compared with it at each sample.
 */
#ifndef QUARTZ_IDLE_BPF_H
#define QUARTZ_IDLE_BPF_H

/*
 * How far a processor's struct tick_sched is from its runqueue, which a task knows; 0: that is not known. Both are
 * variables of each processor, of which many kernels tell the place in their types only.
 */
const volatile __s64 ticks_from_runqueue;

/* The idle task comes or goes. */
static __always_inline void idle__account(struct qz_cpu_state *cpu, bool comes, u64 now)
{
	if (cpu->idle_since && (s64)(now - cpu->idle_since) > 0)
		cpu->idle_ns += now - cpu->idle_since;
	cpu->idle_since = comes ? now : 0;
}

/* It is now, at a switch at which `task` comes or goes, and not the idle task. */
static __always_inline void idle__compare_clock(struct qz_cpu_state *cpu, struct task_struct *task,
						u64 now)
{
	u64 clock = wanted_skips ? kernel_account__clock(task) : 0;

	if (clock)
		cpu->behind = now - clock;
}

/* Now, likewise. The kernel has just read its clock, and to read ours takes longer than all that is done at such a switch. */
static __always_inline u64 idle__time(const struct qz_cpu_state *cpu, struct task_struct *task)
{
	u64 clock = kernel_account__clock(task);

	return clock && cpu->behind ? clock + cpu->behind : bpf_ktime_get_ns();
}

/* Of this processor, up to when it was last interrupted or left; 0: this kernel does not tell. */
static __always_inline u64 idle__by_kernel(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tick_sched *ticks;

	if (!ticks_from_runqueue || !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	ticks = (void *)task->se.cfs_rq->rq + ticks_from_runqueue;
	return BPF_CORE_READ(ticks, idle_sleeptime) + BPF_CORE_READ(ticks, iowait_sleeptime);
}

/* What was idle until now is known. */
static __always_inline void idle__compare(struct qz_cpu_state *cpu, u64 now)
{
	u64 since = cpu->idle_since;

	cpu->idle_ahead = idle__by_kernel() - cpu->idle_ns - (since ? now - since : 0);
}

/*
 * Idle time of this processor that is not in idle_ns yet, by the kernel's account, which is never too long; `unknown`
 * where there is no such account.
 */
static __always_inline u64 idle__uncounted(const struct qz_cpu_state *cpu, u64 unknown)
{
	u64 kernel = idle__by_kernel();
	s64 idle = kernel - cpu->idle_ahead - cpu->idle_ns;

	if (!kernel || !cpu->idle_ahead)
		return unknown;
	return idle > 0 ? idle : 0;
}

/* This processor became idle unseen, and still is, or is about to run something: since when. */
static __always_inline u64 idle__began_unseen(const struct qz_cpu_state *cpu, u64 now)
{
	return now - idle__uncounted(cpu, 0);
}

/* This processor was idle, and then ran something unseen: since when. */
static __always_inline u64 idle__ended_unseen(const struct qz_cpu_state *cpu, u64 now)
{
	u64 longest = now - cpu->idle_since, idle = idle__uncounted(cpu, longest);

	return cpu->idle_since + (idle < longest ? idle : longest);
}

#endif
