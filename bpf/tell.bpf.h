/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that quartzd does not know. Most live for a moment, and the log has what they did. Where every process of the
 * machine is measured, a new process has no state and no scope number until it is sampled, starts a second thread, maps
 * memory before its first exec, or quartzd goes through all threads, as it does each second. Then the process is reported
 * to quartzd, as if its fork had been.
 */
#ifndef QUARTZ_TELL_BPF_H
#define QUARTZ_TELL_BPF_H

/* include/linux/sched.h, since 2.4 */
#define PF_EXITING_BIT	  0x4
#define PF_FORKNOEXEC_BIT 0x40

/* When all threads had been found. 0: not yet, or each new process is reported at once. Set by quartzd. */
volatile __u64 told_since;

static __always_inline u64 task__unit(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* Of a task without a state. */
static __always_inline bool tell__is_untold(const struct task_struct *task)
{
	return every_process && told_since && task->pid && task->pid == task->tgid &&
	       !(task->flags & PF_KTHREAD_BIT) && task->start_time >= told_since;
}

static __always_inline bool task__is_named_as(struct task_struct *a, struct task_struct *b)
{
	const u64 *name = (const u64 *)a->comm, *other = (const u64 *)b->comm;

	return name[0] == other[0] && name[1] == other[1];
}

/*
 * Whether the process has the code that its parent has now: neither has executed anything since the fork. Where it has
 * given its memory back already, to end, equal names have to do.
 */
static __always_inline bool tell__has_parents_code(struct task_struct *task,
						   struct task_struct *parent)
{
	struct mm_struct *mm = task->mm, *from = parent->mm;

	if (!(task->flags & PF_FORKNOEXEC_BIT) || !from)
		return false;
	if (!mm)
		return task__is_named_as(task, parent);
	return BPF_CORE_READ(mm, exe_file) == BPF_CORE_READ(from, exe_file) &&
	       BPF_CORE_READ(mm, start_stack) == BPF_CORE_READ(from, start_stack);
}

/* A forked process has its parent's code at its parent's addresses. */
static __always_inline void image__inherit(u32 child, u32 parent)
{
	struct qz_unwind_image *tables = bpf_map_lookup_elem(&unwind_images, &parent);

	if (tables && !image__is_remapped(parent, tables))
		bpf_map_update_elem(&unwind_images, &child, tables, BPF_ANY);
}

/* The image that it was forked from and still has; 0: it has one of its own. */
static __always_inline u32 tell__origin(struct task_struct *task)
{
	struct task_struct *parent = task->real_parent;
	struct qz_thread_state *p = parent ? thread__find(parent) : NULL;

	return p && tell__has_parents_code(task, parent) ? p->image : 0;
}

/* Its state, unless another one was faster. */
static __always_inline struct qz_thread_state *tell__store(struct task_struct *task, u32 scope,
							   u32 image, u32 how)
{
	struct qz_thread_state *fresh = bpf_map_lookup_elem(&fresh_threads, &how), *t;

	if (!fresh || bpf_task_storage_get(&threads, task, NULL, 0))
		return NULL;
	thread__fill(fresh, task, scope, image, task->start_time);
	t = bpf_task_storage_get(&threads, task, fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return t && t->serial == fresh->serial ? t : NULL;
}

static __noinline int tell__event(struct task_struct *task, struct qz_thread_state *t, u32 origin,
				  u64 now)
{
	struct qz_process_event e = {};

	if (!task || !t)
		return 0;
	event__fill_process(&e, task, t, origin ? QZ_IMAGE_FORK : QZ_IMAGE_EXEC, now);
	e.parent = origin;
	e.leader = t->serial;
	event__send_process(&e);
	return 0;
}

/*
 * Reports a process that quartzd does not know, by its only thread. No other context may use the same entry of
 * fresh_threads at the same time. While all scope numbers are in use, the process stays unknown, and its samples are lost.
 */
static __noinline int tell__process(struct task_struct *task, u32 how, u64 now)
{
	struct qz_control *ctl = control__get();
	struct qz_thread_state *t;
	struct qz_scope_state *s;
	u32 scope, image, origin;

	if (!task || !ctl)
		return 0;
	scope = scope__of_new_process(task, NULL, task->start_time);
	s = scope__get(scope);
	if (!s)
		return 0;
	*(volatile u32 *)&s->youth = QZ_YOUNG;
	image = next_number(&ctl->next_image);
	t = tell__store(task, scope, image, how);
	if (!t) {
		scope__give_back(scope, s);
		return 0;
	}
	s->begun = 1;
	origin = tell__origin(task);
	if (origin)
		image__inherit(image, origin);
	log__identify(task, t);
	return tell__event(task, t, origin, now);
}

/* The state that it has then, or NULL. */
static __always_inline struct qz_thread_state *tell__state(struct task_struct *task, u32 how,
							   u64 now)
{
	tell__process(task, how, now);
	return thread__find(task);
}

static __always_inline bool task__execs(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve);
}

/* Whether it maps memory and has its parent's code, whose addresses it may use again. */
static __always_inline bool tell__maps(struct task_struct *task)
{
	return tell__is_untold(task) && task->flags & PF_FORKNOEXEC_BIT && !task__execs(task);
}

/* Run by quartzd: of all that live, or of one process. What those that it knows have read and written is told, too. */
SEC("iter/task")
int tell_threads(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq; /* once: see doc/internals.md, Start */
	struct task_struct *task = ctx->task;
	struct qz_thread_state *t;

	if (!task || task->exit_state || task->flags & PF_EXITING_BIT)
		return 0;
	t = thread__find(task);
	if (!t && tell__is_untold(task))
		t = tell__state(task, FRESH_LOOKED_AT, bpf_ktime_get_ns());
	if (t && tells_transfers)
		log__tell_transfers(seq, task, t, 0);
	return 0;
}

#endif
