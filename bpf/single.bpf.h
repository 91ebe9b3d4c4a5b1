/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that are alone in their process, where each process is a scope of its own. The kernel keeps account of how
 * long they ran and how long they were ready, and the rest of their time they were blocked; their scope's level is 1
 * while they run. So a switch changes nothing here: their state is brought up to date when somebody wants to know,
 * when a wait ends that is looked at, when they end, and when the process gets a second thread, from when on it is
 * counted at switches as any other.
 *
 * Written by the processor that runs the thread, or by quartzd's look at all threads (dump_threads): who succeeds in
 * taking `run`, which has no other use here, from 0 to 1.
 */
#ifndef QUARTZ_SINGLE_BPF_H
#define QUARTZ_SINGLE_BPF_H

#define SINGLE_TRIES 256 /* who has it needs some 100 ns */

/*
 * Set by quartzd before it reads: the time that it reads for. When it has frozen all, it is also the time up to which
 * a thread that ends is counted.
 */
volatile __u64 read_until;

/* The verifier does not follow what is behind a setting that is off: where there are none, half of a start was for them. */
static __always_inline bool thread__is_single(const struct qz_thread_state *t)
{
	return wanted_singles && t->state & QZ_SINGLE;
}

static __always_inline bool single__is_alone(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, nr_threads) == 1;
}

/* Whether a thread that is new to us is left to the kernel. */
static __always_inline bool single__wants(struct task_struct *task, u32 scope)
{
	return wanted_singles && scope >= QZ_OWN_SCOPES && single__is_alone(task);
}

__noinline int single__try_lock(struct qz_thread_state *t)
{
	return t && !__sync_val_compare_and_swap(&t->run, 0, 1);
}

static __noinline int single__lock(struct qz_thread_state *t)
{
	for (int i = 0; i < SINGLE_TRIES; i++)
		if (single__try_lock(t))
			return true;
	return false;
}

static __always_inline void single__unlock(struct qz_thread_state *t)
{
	__sync_val_compare_and_swap(&t->run, 1,
				    0); /* not what the thread has there when it is counted */
}

/*
 * Brings the thread up to date. A running one's account is as old as the last tick: what is missing is made up for
 * the next time. `ready`: of a wait that ends now, which the kernel adds to its account only when the thread is on
 * its processor. `open`: there is no next time; so much of the time at most is left out, if it is not known to be that
 * of a running or ready thread. Gives how much was.
 */
static __noinline u32 single__update(struct task_struct *task, struct qz_thread_state *t, u64 ready,
				     u64 now, u32 open)
{
	struct qz_scope_state *s;
	u64 elapsed, ran, blocked;

	if (!task || !t)
		return 0;
	s = scope__get(t->scope);
	if (!s || (s64)(now - t->since) <= 0)
		return 0;
	elapsed = now - t->since;
	t->since = now;
	t->cpu_in = BPF_CORE_READ(task, se.sum_exec_runtime);
	ran = kernel_account__news(t->cpu_in - t->cpu_base + (t->skipped ? t->more : 0),
				   t->ns[QZ_RUNNING], elapsed);
	ready = kernel_account__news(kernel_account__delay(task) - t->waiting.nominal + ready,
				     t->ns[QZ_READY], elapsed - ran);
	blocked = elapsed - ran - ready;
	if (open > blocked)
		open = blocked;
	t->ns[QZ_RUNNING] += ran;
	t->ns[QZ_READY] += ready;
	t->ns[QZ_BLOCKED] += blocked - open;
	if (t->skipped)
		return open;
	*(volatile u64 *)&s->running = skip__clock(now) << QZ_LEVEL_BITS;
	level__add(t->scope, 1, ran);
	level__add(t->scope, 0, elapsed - ran - open);
	return open;
}

/* The thread has no account of its own any more: what it did since it was brought up to date is not known. */
static __always_inline void single__give_up(struct qz_thread_state *t, u64 now)
{
	if ((s64)(now - t->since) <= 0)
		return;
	t->ns[QZ_UNKNOWN] += now - t->since;
	t->since = now;
}

static __always_inline void single__end_skip(struct qz_thread_state *t)
{
	if (!t->skipped)
		return;
	t->skipped = false;
	t->more = 0; /* no wait is looked at, and it has no slot */
}

/* It ends, or is no longer alone: `state` is what it is in then. As single__update. */
static __always_inline u32 single__leave_as(struct task_struct *task, struct qz_thread_state *t,
					    u32 state, u64 now, u32 open)
{
	if (single__lock(t)) {
		open = single__update(task, t, 0, now, open);
	} else {
		single__give_up(t, now);
		open = 0;
	}
	t->waiting.nominal = 0;
	single__end_skip(t);
	t->state = state;
	single_gate__close(task);
	single__unlock(t);
	return open;
}

#endif
