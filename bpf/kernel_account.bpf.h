/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel keeps of a thread anyway: how long it was ready until it last came to a processor, and since when
 * it has been in the queue of one. Where these are used no wake-up has to be seen.
 */
#ifndef QUARTZ_KERNEL_ACCOUNT_BPF_H
#define QUARTZ_KERNEL_ACCOUNT_BPF_H

/* Of all times that are over. */
static __always_inline u64 kernel_account__delay(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* When the last event was on its processor, this switch, say, by a clock of the kernel's own. 0: this kernel does not tell. */
static __always_inline u64 kernel_account__clock(struct task_struct *task)
{
	return bpf_core_field_exists(struct cfs_rq, rq) ? task->se.cfs_rq->rq->clock : 0;
}

/* Of the time that lasts, or ends with this switch. 0: it is not in a queue. */
static __always_inline u64 kernel_account__queued(struct task_struct *task)
{
	u64 since, clock;

	if (!bpf_core_field_exists(task->sched_info.last_queued))
		return 0;
	since = task->sched_info.last_queued;
	if (!since)
		return 0;
	clock = kernel_account__clock(task);
	return clock > since ? clock - since : 0;
}

/* What of an account of the kernel's is new, of which we have `known`; no more than there was time. */
static __always_inline u64 kernel_account__news(u64 account, u64 known, u64 time)
{
	u64 news = account > known ? account - known : 0;

	return news < time ? news : time;
}

/* How long it has been ready since it left its processor at t->since, up to `now`. */
static __always_inline u64 kernel_account__ready(struct task_struct *task,
						 const struct qz_thread_state *t, u64 now)
{
	if (!wanted_kernel_ready || (s64)(now - t->since) <= 0)
		return 0;
	return kernel_account__news(kernel_account__delay(task) + kernel_account__queued(task),
				    t->delay, now - t->since);
}

#endif
