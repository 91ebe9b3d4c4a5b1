/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a thread and its changes. See struct qz_thread_state for who may write. */
#ifndef QUARTZ_THREAD_BPF_H
#define QUARTZ_THREAD_BPF_H

static __always_inline bool state__runnable(u32 state)
{
	return state == QZ_RUNNING || state == QZ_READY;
}

/* Charges the time since the last change to a state. */
static __always_inline void thread__charge(struct qz_thread_state *t, u32 state, u64 now)
{
	s64 elapsed = now - t->since;

	if (elapsed <= 0)
		return;
	t->ns[state & 3] += elapsed;
	*(volatile u64 *)&t->since = now;
}

/*
 * Charges the time since the last change to the old state and enters the new one. The state comes
 * last: who wakes the thread may charge the time from then on, see thread__wake. QZ_UNKNOWN may be settled by an
 * adopting processor at the same time, and only then an exchange is needed to decide who told the scope.
 */
static __noinline int thread__enter(struct qz_thread_state *t, u32 state, u64 now)
{
	u32 old = *(volatile u32 *)&t->state;

	thread__charge(t, old, now);
	if (old == QZ_UNKNOWN)
		old = __sync_lock_test_and_set(&t->state, state);
	else
		*(volatile u32 *)&t->state = state;
	if (state__runnable(old) != state__runnable(state))
		scope__change_runnable(t->scope, state__runnable(state) ? 1 : -1, now);
	return 0;
}

/* A thread that is on its way out is off its processor in less. */
#define LEAVING 1000000ull /* ns */

/*
 * The thread is about to be woken, and may be on its way out on another processor at this moment: only when it is seen
 * to be blocked it is ready from now on. Else it is noted when that was. Who wakes a thread is alone in that until it
 * comes.
 */
static __always_inline void thread__wake(struct qz_thread_state *t, u64 now)
{
	if (__sync_val_compare_and_swap(&t->state, QZ_BLOCKED, QZ_READY) != QZ_BLOCKED) {
		t->woken = wait_gate__units(now);
		return;
	}
	thread__charge(t, QZ_BLOCKED, now);
	scope__change_runnable(t->scope, 1, now);
}

/* How long a thread that was seen to block has been ready, because it was woken on its way out. */
static __always_inline u64 thread__ready_unseen(const struct qz_thread_state *t, u64 now)
{
	u64 ready = (u64)(wait_gate__units(now) - t->woken) << QZ_BEGAN_SHIFT;
	s64 away = now - t->since;

	if (away <= 0 || ready > (u64)away + LEAVING)
		return 0;
	return smaller(ready, away);
}

/* Whether the run that t believes to be in is over without having been seen to end. */
static __always_inline bool thread__left_unseen(struct qz_thread_state *t)
{
	struct qz_cpu_state *cpu;

	if (t->state != QZ_RUNNING)
		return false;
	cpu = cpu__get(t->cpu);
	return cpu && *(volatile u64 *)&cpu->run != t->run;
}

/* It is not running: what it will have been ready since then is what the kernel's account grew by. */
static __always_inline void thread__note_delay(struct task_struct *task, struct qz_thread_state *t)
{
	if (wanted_kernel_ready)
		t->delay = kernel_account__delay(task);
}

/*
 * It comes to a processor: it was ready since it was woken or preempted, if that was seen; else by the kernel's account,
 * which is not needed where each wake-up is seen.
 */
static __always_inline void thread__come(struct task_struct *task, struct qz_thread_state *t,
					 u64 now)
{
	u64 ready = 0, woken;

	if (t->state != QZ_READY)
		ready = wait_spacing ? kernel_account__ready(task, t, now)
				     : thread__ready_unseen(t, now);
	if (ready)
		thread__enter(t, QZ_READY, now - ready);
	woken = t->state == QZ_READY ? t->since : now;
	thread__enter(t, QZ_RUNNING, now);
	wait_account__end(t, woken, now);
}

/*
 * Moves the run of a processor on from `run`; whoever succeeds must take the thread of that
 * run out of its scope's running count.
 */
static __always_inline bool cpu__end_run(struct qz_cpu_state *cpu, u64 run)
{
	return __sync_val_compare_and_swap(&cpu->run, run, run + 1) == run;
}

/*
 * The thread is seen somewhere else than where it was running: its run ended unseen. What it ran
 * by the kernel's account is charged as running; what it did since, nobody knows.
 */
static __always_inline void thread__settle_gap(struct task_struct *task, struct qz_thread_state *t,
					       u64 now)
{
	struct qz_cpu_state *there = cpu__get(t->cpu);
	s64 ran = task->se.sum_exec_runtime - t->cpu_in;
	s64 elapsed = now - t->since;

	if (there && cpu__end_run(there, t->run)) {
		scope__change_running(t->scope, -1, now);
		__sync_fetch_and_add(&there->gaps, 1);
	}
	if (ran > elapsed)
		ran = elapsed;
	if (ran > 0) {
		t->ns[QZ_RUNNING] += ran;
		t->since += ran;
	}
	t->cpu_in = task->se.sum_exec_runtime;
	t->state = QZ_UNKNOWN;
	thread__note_delay(task, t);
	scope__change_runnable(t->scope, -1, now);
	wait_account__forget(t, now);
}

/* How long a thread of the fair class has been running in this run, by the kernel's account. */
static __always_inline u64 task__run_ns(struct task_struct *task)
{
	s64 ran = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;

	return ran > 0 ? ran : 0;
}

static __always_inline u32 next_number(u32 *counter)
{
	return __sync_fetch_and_add(counter, 1) + 1;
}

/*
 * The first state of a thread, which is too large for the BPF stack. Whoever uses one is not
 * interrupted by another who does: forking is not preempted, threads are found by one iterator. The last three are
 * for a process whose fork was passed, see bpf/passed.bpf.h: by itself, by the sampler, by an iterator.
 */
enum fresh_thread {
	FRESH_FORKED,
	FRESH_FOUND,
	FRESH_PASSED,
	FRESH_SAMPLED,
	FRESH_LOOKED_AT,
	FRESH_THREADS
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FRESH_THREADS);
	__type(key, u32);
	__type(value, struct qz_thread_state);
} fresh_threads SEC(".maps");

/* Whether the task has left its processor to sleep. One that is being created has not. */
static __always_inline bool task__sleeps(struct task_struct *task)
{
	u32 state = BPF_CORE_READ(task, __state);

	return state && !(state & (TASK_DEAD_BIT | TASK_NEW_BIT)) && !task->on_rq;
}

/* What it is in when it is found or forked, and whether that is a wait which is looked at. */
static __always_inline void thread__begin(struct task_struct *task, struct qz_thread_state *t,
					  u32 how)
{
	bool single = single__wants(task, t->scope);
	bool waits = how == FRESH_FORKED || task__sleeps(task);

	t->state = !single ? QZ_UNKNOWN : waits ? QZ_SINGLE | QZ_BLOCKED : QZ_SINGLE;
	t->waiting.flags = single && !waits ? QZ_WAITING_CLOSED : 0;
	wait_gate__begin(t, how == FRESH_FORKED && task->pid == task->tgid);
	if (single)
		t->waiting.nominal = kernel_account__delay(task);
	else
		thread__note_delay(task, t);
}

static __noinline int wait_stack__found(struct task_struct *task, struct qz_thread_state *t,
					u64 now);
static __noinline int wait_stack__drop(struct qz_thread_state *t, u64 now);

/* Who it is; all times 0. `cpu`: what it had run when it was first seen. */
static __always_inline void thread__fill(struct qz_thread_state *fresh, struct task_struct *task,
					 u32 scope, u32 image, u64 seen, u64 cpu)
{
	struct qz_control *ctl = control__get();

	fresh->serial = ctl ? next_number(&ctl->next_serial) : 0;
	fresh->scope = scope;
	fresh->image = image;
	fresh->tid = task__number(task);
	fresh->tgid = task__process_number(task);
	fresh->seen = seen;
	fresh->since = seen;
	fresh->cpu_base = cpu;
	fresh->cpu_in = cpu;
	fresh->run = 0;
}

/*
 * Starts to follow a thread: state QZ_UNKNOWN, all times 0. NULL when it is followed already or
 * there is no memory, which is counted. Not for the scheduler's path: it allocates.
 */
static __always_inline struct qz_thread_state *thread__follow(struct task_struct *task, u32 scope,
							      u32 image, u32 how, u64 now)
{
	struct qz_thread_state *fresh = bpf_map_lookup_elem(&fresh_threads, &how), *t;
	struct qz_control *ctl = control__get();
	struct qz_scope_state *s = scope__get(scope);

	if (!ctl || !s || !fresh || bpf_task_storage_get(&threads, task, NULL, 0))
		return NULL;
	single_gate__close(task); /* it may have been another one's, whose end was not seen */
	thread__fill(fresh, task, scope, image, now, task->se.sum_exec_runtime);
	fresh->waiting.nominal = qz_nominal__integral(s->runnable, now);
	thread__begin(task, fresh, how);
	if (how == FRESH_FOUND)
		wait_stack__found(task, fresh, now);
	t = bpf_task_storage_get(&threads, task, fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		if (how == FRESH_FOUND)
			wait_stack__drop(fresh, now);
		__sync_fetch_and_add(&ctl->threads_refused, 1);
		return NULL;
	}
	/* it may have got company before it could be seen here: then nobody was told of it */
	if (thread__is_single(t) && !single__is_alone(task)) {
		t->state = QZ_UNKNOWN;
		thread__note_delay(task, t);
	}
	wake_window__follow(task);
	critical_path__follow(task);
	__sync_fetch_and_add(&s->alive, 1);
	__sync_fetch_and_add(&s->counters.threads_seen, 1);
	return t;
}

#endif
