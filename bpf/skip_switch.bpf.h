/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that are left to the kernel's accounts while switches are skipped (bpf/skip.bpf.h), and come back from there. */
#ifndef QUARTZ_SKIP_SWITCH_BPF_H
#define QUARTZ_SKIP_SWITCH_BPF_H

/*
 * It has just been accounted for. Not a thread whose page set is read: from other processors, while it runs, and they must
 * know when that is.
 */
static __noinline int skip__leave(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	if (!task || !t || t->slot || t->state == QZ_DEAD || t->state == QZ_UNKNOWN)
		return 0;
	if (state__runnable(t->state))
		scope__change_runnable(t->scope, -1, now);
	t->cpu_in = task->se.sum_exec_runtime;
	/* interrupts are in our time and not in the kernel's */
	t->more = t->ns[QZ_RUNNING] - (t->cpu_in - t->cpu_base);
	t->waiting.nominal = kernel_account__delay(task) - t->ns[QZ_READY];
	t->waiting.flags |= QZ_WAITING_CLOSED | QZ_WAITING_PASSED;
	t->skipped = true;
	t->run = 0;
	t->state = QZ_SINGLE;
	single_gate__open(task, t);
	return 0;
}

/* It comes to a processor while switches are skipped. Whether it is left to the kernel. */
static __noinline int skip__come(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	if (!task || !t || t->slot)
		return false;
	if (t->state == QZ_RUNNING)
		thread__settle_gap(task, t, now);
	thread__come(task, t, now);
	skip__leave(task, t, now);
	return true;
}

/* It comes to a processor in a window: it is counted from now on. */
static __noinline int skip__return(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	if (!task || !t)
		return 0;
	if (single__lock(t))
		single__update(task, t, kernel_account__queued(task), now, 0);
	else
		single__give_up(t, now);
	t->waiting.nominal = 0;
	single__end_skip(t);
	t->state = QZ_BLOCKED;
	single_gate__close(task);
	single__unlock(t);
	return 0;
}

#endif
