/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting to follow threads that run already. The log is on by then: from the time when a thread is found, all that it does
 * is in it. Passes are made until one finds none, since threads may be forked by some that are not yet found.
 */
#ifndef QUARTZ_ATTACH_BPF_H
#define QUARTZ_ATTACH_BPF_H

/* Generations of parents that are searched for a target. */
#define MAX_ANCESTORS	64
#define ANCESTORS_BLOCK 8

/* Key: tgid. Value: its image. Written and read by find_threads only. Full: images without a name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32);
} found_images SEC(".maps");

__u64 threads_found; /* by find_threads, in all passes */

volatile bool
	finds_again; /* records were lost: threads that are followed are reported again. Set by quartzd */

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

static __always_inline u32 target__scope_below(struct task_struct *parent)
{
	return target__scope_of_descendants(target__key(parent));
}

/* Of a process and its ancestors the first one whose descendants are followed, or the one after a block; 0: none. */
__noinline u64 target__search_ancestors(u64 address)
{
	struct task_struct *task = (void *)address;

	for (int i = 0; i < ANCESTORS_BLOCK && task; i++) {
		if (target__scope_below(task) != QZ_NO_SCOPE)
			break;
		task = BPF_CORE_READ(task, tgid) > 1 ? BPF_CORE_READ(task, real_parent) : NULL;
	}
	return (u64)task;
}

/* The scope that a process belongs to because an ancestor's descendants are followed. */
static __always_inline u32 scope__by_ancestor(struct task_struct *task)
{
	u64 ancestor = (u64)BPF_CORE_READ(task, real_parent);
	u32 scope = QZ_NO_SCOPE;

	for (int i = 0; i < MAX_ANCESTORS / ANCESTORS_BLOCK && scope == QZ_NO_SCOPE; i++) {
		ancestor = target__search_ancestors(ancestor);
		if (!ancestor)
			break;
		scope = target__scope_below((void *)ancestor);
	}
	return scope;
}

static __always_inline void scope__found(u32 scope, const struct task_struct *task)
{
	struct qz_scope_state *s = scope__get(scope);

	if (s)
		s->process = task->tgid;
}

static __always_inline u32 scope__of_found(struct task_struct *task, u64 now)
{
	u32 tgid = target__key(task), *known = bpf_map_lookup_elem(&targets, &tgid), scope;

	if (known) {
		scope__found(*known, task);
		return *known;
	}
	if (finds_command)
		return QZ_NO_SCOPE;
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

/*
 * Tells what is known of a thread that was found. The reader gets the records: only its processor writes a log, and this can be
 * interrupted. before: as for log__tell_transfers().
 */
static __always_inline void log__tell_found(struct seq_file *seq, struct task_struct *task,
					    struct qz_thread_state *t, u8 before)
{
	struct qz_log_record r = {};
	bool sleeps;

	if (!log_follows_all)
		followed__set(task->tgid, true);
	sleeps = task__sleeps(task);
	r.time = bpf_ktime_get_ns();
	r.tid = task->pid;
	r.state = sleeps ? QZ_LOG_FOUND_BLOCKED : QZ_LOG_FOUND_RUNNABLE;
	r.cause = sleeps ? wait_cause__find(task, BPF_CORE_READ(task, __state)) : 0;
	log__tell(seq, &r, QZ_LOG_FOUND, log__process(task), t->place, task->se.sum_exec_runtime);
	log__tell(seq, &r, QZ_LOG_IDENTITY, task__tid(task), t->scope,
		  QZ_LOG_WHO(t->serial, t->image));
	if (pid_namespace)
		log__tell(seq, &r, QZ_LOG_NUMBERS, t->tid, t->tgid, 0);
	if (every_process && task->pid == task->tgid)
		log__tell(seq, &r, QZ_LOG_UNIT, 0, 0, task__unit(task));
	r.kind = QZ_LOG_NAME;
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), task->comm);
	bpf_seq_write(seq, &r, sizeof(r));
	log__tell_transfers(seq, task, t, before);
}

SEC("iter/task")
int find_threads(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq; /* once: see doc/internals.md, Start */
	struct task_struct *task = ctx->task;
	struct qz_thread_state *t;
	u32 scope;
	u64 now;

	if (!task || task->exit_state || (task->flags & PF_KTHREAD_BIT && !every_process))
		return 0;
	t = thread__find(task);
	if (t) {
		if (finds_again)
			log__tell_found(seq, task, t, 0);
		return 0;
	}
	now = bpf_ktime_get_ns();
	scope = scope__of_found(task, now);
	if (scope == QZ_NO_SCOPE)
		return 0;
	t = thread__follow(task, scope, image__of_found(task), FRESH_FOUND, now);
	if (!t)
		return 0;
	log__tell_found(seq, task, t, QZ_LOG_BEFORE);
	__sync_fetch_and_add(&threads_found, 1);
	event__found(task, t, now);
	return 0;
}

#endif
