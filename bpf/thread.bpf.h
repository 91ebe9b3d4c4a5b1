/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of a thread where it is sampled, waits or wakes: see struct qz_thread_state. */
#ifndef QUARTZ_THREAD_BPF_H
#define QUARTZ_THREAD_BPF_H

static __always_inline u32 next_number(u32 *counter)
{
	return __sync_fetch_and_add(counter, 1) + 1;
}

/*
 * The first state of a thread, which is too large for the BPF stack. Whoever uses one is not
 * interrupted by another who does: forking is not preempted, threads are found by one iterator. The last three are for a
 * process that is reported late (bpf/tell.bpf.h): by itself, by the sampler, by an iterator.
 */
enum fresh_thread {
	FRESH_FORKED,
	FRESH_FOUND,
	FRESH_TOLD,
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

/* Who it is. */
static __always_inline void thread__fill(struct qz_thread_state *fresh, struct task_struct *task,
					 u32 scope, u32 image, u64 seen)
{
	struct qz_control *ctl = control__get();

	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->serial = ctl ? next_number(&ctl->next_serial) : 0;
	fresh->scope = scope;
	fresh->image = image;
	fresh->tid = task__number(task);
	fresh->tgid = task__process_number(task);
	fresh->seen = seen;
}

static __noinline int wait_stack__found(struct task_struct *task, struct qz_thread_state *t);

/*
 * Starts to follow a thread. NULL when it is followed already or there is no memory, which is counted. Not for the
 * scheduler's path: it allocates.
 */
static __always_inline struct qz_thread_state *thread__follow(struct task_struct *task, u32 scope,
							      u32 image, u32 how, u64 now)
{
	u32 key =
		how; /* whose address is taken: `how` stays a constant, and what is of others is left out */
	struct qz_thread_state *fresh = bpf_map_lookup_elem(&fresh_threads, &key), *t;
	struct qz_control *ctl = control__get();
	struct qz_scope_state *s = scope__get(scope);

	if (!ctl || !s || !fresh || bpf_task_storage_get(&threads, task, NULL, 0))
		return NULL;
	thread__fill(fresh, task, scope, image, now);
	if (how == FRESH_FOUND && !finds_command)
		wait_stack__found(task, fresh);
	t = bpf_task_storage_get(&threads, task, fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		__sync_fetch_and_add(&ctl->threads_refused, 1);
		return NULL;
	}
	s->begun = 1;
	return t;
}

/* For who reads the slot of the running thread from another processor. */
static __always_inline void cpu__publish(struct qz_cpu_state *cpu, const struct qz_thread_state *t)
{
	*(volatile u32 *)&cpu->slot = 0;
	cpu->serial = t->serial;
	cpu->image = t->image;
	cpu->page = t->page;
	*(volatile u32 *)&cpu->slot = t->slot;
}

#endif
