/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting to follow threads that run already. The order, kept by quartzd:
 *
 *  1. attach everything else, so that no event is missed from here on;
 *  2. mark_processor on every processor: `task` is set everywhere;
 *  3. find_threads until a pass finds none: every thread has a state, QZ_UNKNOWN. A thread forked
 *     meanwhile by one that was not yet found is found by the next pass;
 *  4. mark_processor on every processor: what runs there in state QZ_UNKNOWN is running. It is an
 *     interrupt, so no switch can be half done on that processor;
 *  5. settle_threads: what is still QZ_UNKNOWN does not run. It is ready when the kernel has it
 *     runnable, else blocked.
 *
 * A switch or wake-up that comes between finds QZ_UNKNOWN and settles it itself, exactly; steps 4
 * and 5 change only what is QZ_UNKNOWN, by exchange. So the counts are right at once and for ever.
 */
#ifndef QUARTZ_ATTACH_BPF_H
#define QUARTZ_ATTACH_BPF_H

/* Generations of parents that are searched for a target. */
#define MAX_ANCESTORS 64

/* Key: tgid. Value: its image. Written and read by find_threads only. Full: images without a name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32);
} found_images SEC(".maps");

/* One entry per processor: a thread being written by dump_threads, which only quartzd reads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_thread_event);
} dumped_thread SEC(".maps");

__u64 threads_found; /* by find_threads, in all passes */

/* Run on one processor by quartzd (BPF_PROG_TEST_RUN with a CPU), in interrupt context there. */
SEC("raw_tp")
int mark_processor(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct qz_cpu_state *cpu = cpu__this();
	struct qz_thread_state *t;
	u64 now;

	if (!cpu)
		return 0;
	if (!cpu->task) {
		cpu->task = (u64)task;
		cpu->idle_since = task->pid ? 0 : bpf_ktime_get_ns();
		idle__compare(cpu, bpf_ktime_get_ns());
	}
	if (every_process)
		machine__count(cpu, !task->pid, bpf_ktime_get_ns());
	t = bpf_task_storage_get(&threads, task, NULL, 0);
	if (!t || t->state != QZ_UNKNOWN || cpu->task != (u64)task)
		return 0;
	now = bpf_ktime_get_ns();
	if (cpu->scope != QZ_NO_SCOPE)
		return 0;
	switch__in(task, t, cpu, now);
	cpu->scope = t->scope;
	scope__change_running(t->scope, 1, now);
	return 0;
}

/* Likewise: switches are counted there from now on. */
SEC("raw_tp")
int end_skip(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct qz_cpu_state *cpu = cpu__this();
	struct qz_thread_state *t;

	if (!cpu)
		return 0;
	cpu->skipping = false;
	machine__count(cpu, !task->pid, bpf_ktime_get_ns());
	if (!task->pid || cpu->scope != QZ_NO_SCOPE || cpu->task != (u64)task)
		return 0;
	t = thread__find(task);
	if (t && thread__is_single(t) && t->skipped)
		switch__count(task, t, bpf_ktime_get_ns());
	return 0;
}

/* What a process is known by in `targets`, 0: it is not. */
static __always_inline u32 target__key(struct task_struct *task)
{
	if (every_process)
		return BPF_CORE_READ(task, tgid);
	return task__process_number(task);
}

/* The scope of a target whose descendants are followed. */
__noinline u32 target__scope_of_descendants(u32 tgid)
{
	u32 *scope = tgid ? bpf_map_lookup_elem(&targets, &tgid) : NULL;
	struct qz_scope_state *s = scope ? scope__get(*scope) : NULL;

	return s && s->follows ? *scope : QZ_NO_SCOPE;
}

/* The scope that a process belongs to because an ancestor's descendants are followed. */
static __always_inline u32 scope__by_ancestor(struct task_struct *task)
{
	struct task_struct *parent = task;
	u32 scope = QZ_NO_SCOPE;

	for (int i = 0; i < MAX_ANCESTORS; i++) {
		parent = BPF_CORE_READ(parent, real_parent);
		if (!parent)
			break;
		scope = target__scope_of_descendants(target__key(parent));
		if (scope != QZ_NO_SCOPE || BPF_CORE_READ(parent, tgid) <= 1)
			break;
	}
	return scope;
}

static __always_inline u32 scope__of_found(struct task_struct *task, u64 now)
{
	u32 tgid = target__key(task), *known = bpf_map_lookup_elem(&targets, &tgid), scope;

	if (known)
		return *known;
	if (task->flags & PF_KTHREAD_BIT)
		return QZ_SCOPE_OF_KERNEL;
	scope = scope__by_ancestor(task);
	if (scope == QZ_NO_SCOPE)
		scope = scope__of_new_process(task, NULL, now);
	if (scope == QZ_NO_NUMBER) {
		scope__refuse(1);
		return QZ_NO_SCOPE;
	}
	if (scope != QZ_NO_SCOPE && every_process)
		bpf_map_update_elem(&targets, &tgid, &scope, BPF_ANY);
	return scope;
}

/* The number of the image of a process, told to the daemon with its first thread that is found. */
static __always_inline u32 image__of_found(struct task_struct *task)
{
	u32 tgid = task->tgid, *known = bpf_map_lookup_elem(&found_images, &tgid);
	struct qz_control *ctl = control__get();

	if (known)
		return *known;
	return ctl ? next_number(&ctl->next_image) : 0;
}

/*
 * The leader's registers let the daemon find the outermost procedure, main, on whose behalf all
 * threads of the process run: their creators are no longer known.
 */
static __always_inline void event__found(struct task_struct *task, struct qz_thread_state *t,
					 u64 now)
{
	u32 tgid = task->tgid, image = t->image;
	struct qz_process_event e = {};

	if (bpf_map_update_elem(&found_images, &tgid, &image, BPF_NOEXIST))
		return;
	event__fill_process(&e, task, t, QZ_IMAGE_FOUND, now);
	if (task->pid == task->tgid) {
		e.leader = t->serial;
		registers__read(&e.regs, task);
	}
	event__send_process(&e);
}

/* The clock of a scope starts anew with its first thread: what was before was not observed. */
static __always_inline void scope__begin(u32 scope, u64 now)
{
	struct qz_scope_state *s = scope__get(scope);

	if (!s || s->counters.threads_seen)
		return;
	s->began = now;
	s->running = skip__clock(now) << QZ_LEVEL_BITS;
}

SEC("iter/task")
int find_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct qz_thread_state *t;
	u32 scope;
	u64 now;

	if (!task || task->exit_state || thread__find(task) ||
	    (task->flags & PF_KTHREAD_BIT && !every_process))
		return 0;
	now = bpf_ktime_get_ns();
	scope = scope__of_found(task, now);
	if (scope == QZ_NO_SCOPE)
		return 0;
	scope__begin(scope, now);
	t = thread__follow(task, scope, image__of_found(task), FRESH_FOUND, now);
	if (!t)
		return 0;
	__sync_fetch_and_add(&threads_found, 1);
	event__found(task, t, now);
	return 0;
}

SEC("iter/task")
int settle_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct qz_thread_state *t;
	u32 state;

	if (!task)
		return 0;
	t = thread__find(task);
	if (!t || t->state != QZ_UNKNOWN)
		return 0;
	state = task->on_rq && !BPF_CORE_READ(task, __state) ? QZ_READY : QZ_BLOCKED;
	if (__sync_val_compare_and_swap(&t->state, QZ_UNKNOWN, state) == QZ_UNKNOWN &&
	    state == QZ_READY)
		scope__change_runnable(t->scope, 1, bpf_ktime_get_ns());
	return 0;
}

/* Of one process, which quartzd has to know. */
SEC("iter/task")
int report_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct qz_thread_state *t = task ? thread__find(task) : NULL;

	if (!t || !thread__is_single(t) || !single__lock(t))
		return 0;
	if (thread__is_single(t))
		group__leave(task, t, bpf_ktime_get_ns());
	single__unlock(t);
	return 0;
}

/* Processes whose fork was passed are followed from now on. */
SEC("iter/task")
int follow_passed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !thread__find(task))
		passed__look(task, bpf_ktime_get_ns());
	return 0;
}

/* Writes a struct qz_thread_event for each thread that is followed and has not ended. */
SEC("iter/task")
int dump_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct qz_thread_event *e;
	struct qz_thread_state *t;
	u32 zero = 0;

	e = bpf_map_lookup_elem(&dumped_thread, &zero);
	if (!task || !e)
		return 0;
	t = thread__find(task);
	if (!t) {
		passed__look(task, bpf_ktime_get_ns());
		t = thread__find(task);
	}
	if (!t || t->state == QZ_DEAD)
		return 0;
	if (thread__is_single(t) && single__lock(t)) {
		if (thread__is_single(t)) { /* still, now that nobody else changes that */
			group__leave(task, t, bpf_ktime_get_ns());
			single__update(task, t, 0, read_until, 0);
		}
		single__unlock(t);
	}
	if (t->state == QZ_DEAD)
		return 0;
	thread__describe(e, task, t, thread__left_unseen(t), bpf_ktime_get_ns());
	bpf_seq_write(ctx->meta->seq, e, sizeof(*e));
	return 0;
}

#endif
