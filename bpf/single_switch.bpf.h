/* SPDX-License-Identifier: GPL-2.0-only */
/* What is left to do at switches and wake-ups of threads that are alone in their process: waits that are looked at. */
#ifndef QUARTZ_SINGLE_SWITCH_BPF_H
#define QUARTZ_SINGLE_SWITCH_BPF_H

static __noinline int thread__end(struct task_struct *task, struct qz_thread_state *t, u64 now);

/*
 * The thread leaves its processor. `wanted`: its gate was open, and its wait is to be looked at. Whether it is;
 * single__begin_wait comes after that then.
 */
static __noinline int single__switch_out(struct task_struct *prev, struct qz_thread_state *t,
					 bool preempt, bool wanted)
{
	u32 state;

	if (!prev || !t)
		return false;
	state = preempt ? 0 : prev->__state;
	if (state & TASK_DEAD_BIT) {
		thread__end(prev, t, bpf_ktime_get_ns());
		return false;
	}
	if (t->skipped) /* until it is counted */
		return false;
	if (t->state != QZ_SINGLE) { /* it was not seen coming back */
		t->waiting.flags |= QZ_WAITING_CLOSED;
		t->state = QZ_SINGLE;
	}
	return wanted || !wait_gate__is_passed(state ? t->waiting.step
						     : wait_gate__preempted_step(&t->waiting));
}

static __always_inline void single__begin_wait(struct task_struct *prev, struct qz_thread_state *t,
					       u32 state)
{
	single_gate__close(prev);
	t->state = QZ_SINGLE | (state ? QZ_BLOCKED : QZ_READY);
}

/* The thread comes back, from a wait that is looked at: else there is nothing to do. */
static __noinline int single__end_wait(struct task_struct *next, struct qz_thread_state *t)
{
	u64 now, ready;

	if (!next || !t)
		return 0;
	now = bpf_ktime_get_ns();
	ready = kernel_account__queued(next);
	/* while quartzd reads it, which is rare, this wait stands for nothing */
	if (single__try_lock(t)) {
		single__update(next, t, ready, now, 0);
		wait_account__end(t, now - ready, now);
		single__unlock(t);
	}
	t->waiting.flags |= QZ_WAITING_CLOSED;
	t->state = QZ_SINGLE;
	return 0;
}

static __always_inline void single__switch_in(struct task_struct *next, struct qz_thread_state *t)
{
	if (t->state != QZ_SINGLE)
		single__end_wait(next, t);
	single_gate__open(next, t);
}

#endif
