/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads and processes that come, change and go. */
#ifndef QUARTZ_LIFECYCLE_BPF_H
#define QUARTZ_LIFECYCLE_BPF_H

#define PAGE 4096

/* struct qz_creation_event with its stack; the last page lets the verifier bound the copy. */
struct creation_scratch {
	u8 record[sizeof(struct qz_creation_event) + QZ_STACK_COPY + PAGE];
};

/* One entry per processor: a creation's record is too large for the BPF stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct creation_scratch);
} creation_scratch SEC(".maps");

/* One entry per processor: the creator's stack being walked. The sampler, which may interrupt, has
 * its own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwinding);
} creator_stack SEC(".maps");

/*
 * Copies the stack from sp upwards, page by page, to the first page that is not there. Only the
 * first one when the ring is filling up: a short stack is better than none.
 */
static __always_inline u32 copy_stack(u8 *to, u64 sp)
{
	u32 size = PAGE - (sp & (PAGE - 1)), copied = 0;
	bool filling = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >
		       bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) / 4;

	if (bpf_probe_read_user(to, size & (2 * PAGE - 1), (void *)sp))
		return 0;
	copied = size;
	for (int i = 0; i < QZ_STACK_COPY / PAGE - 1; i++) {
		if (filling || copied > QZ_STACK_COPY - PAGE)
			break;
		if (bpf_probe_read_user(to + copied, PAGE, (void *)(sp + copied)))
			break;
		copied += PAGE;
	}
	return copied;
}

/* The creator's frames as the record's contents; 0 when its stack cannot be walked to the end. */
static __always_inline u32 creation__frames(struct qz_creation_event *e, struct task_struct *parent,
					    struct qz_thread_state *creator)
{
	struct unwinding *u;
	u32 zero = 0;

	u = bpf_map_lookup_elem(&creator_stack, &zero);
	if (!u || !unwind__current(u, parent, e->image, creator) || u->end != QZ_UNWIND_OUTERMOST ||
	    u->depth > QZ_USER_FRAMES)
		return 0;
	e->nframes = u->depth;
	e->npython = unwind__python_frames(u);
	e->python_depth = u->npython;
	bpf_probe_read_kernel(e->stack, sizeof(u->frames), u->frames);
	return (e->nframes + e->npython) * sizeof(u64);
}

/*
 * Tells who created the thread: what the child does is done on behalf of that stack (Quartz 1990,
 * 3.3). Where the unwinder has no tables yet, quartzd unwinds a copy of the stack; frame pointers
 * do not survive glibc's way into clone.
 */
static __always_inline void event__creation(struct task_struct *parent,
					    struct qz_thread_state *creator, u32 child_serial,
					    bool process, struct qz_scope_state *scope, u64 now)
{
	struct creation_scratch *c;
	struct qz_creation_event *e;
	u32 zero = 0, size;

	c = bpf_map_lookup_elem(&creation_scratch, &zero);
	if (!c)
		return;
	e = (struct qz_creation_event *)c->record;
	e->parent = creator->serial;
	e->child = child_serial;
	e->image = creator->image;
	e->process = process;
	e->nframes = 0;
	e->npython = 0;
	registers__read(&e->regs, parent);
	size = creation__frames(e, parent, creator);
	if (!size) {
		struct qz_control *ctl = control__get();

		size = copy_stack(e->stack, e->regs.sp);
		if (ctl)
			event__unknown_code(ctl, now);
	}
	e->size = size;
	if (size > QZ_STACK_COPY)
		return;
	size += sizeof(*e);
	event__begin(&e->event, QZ_EVENT_CREATION, size, now);
	if (bpf_ringbuf_output(&events, c, size, event__flags())) {
		__sync_fetch_and_add(&scope->counters.creations_lost, 1);
		event__lost();
	}
}

/* Not inlined: its record must not be on the stack while the creator's is walked. */
static __noinline int event__forked(struct task_struct *child, struct qz_thread_state *t,
				    u32 parent_image, bool creation_reported, u64 now)
{
	struct qz_process_event e = {};

	if (!child || !t)
		return 0;
	event__fill_process(&e, child, t, QZ_IMAGE_FORK, now);
	e.parent = parent_image;
	e.leader = creation_reported ? 0 : t->serial;
	event__send_process(&e);
	return 0;
}

/* The scope of what is forked, as scope__of_new_process() gives it. */
static __always_inline u32 fork__scope(struct task_struct *child, struct qz_thread_state *creator,
				       bool process, u64 now)
{
	if (process)
		return scope__of_new_process(child, creator, now);
	return creator ? creator->scope : QZ_NO_SCOPE;
}

/* Tells of a new process, and of who created what is of its own scope. */
static __always_inline int fork__report(struct task_struct *parent, struct qz_thread_state *creator,
					struct task_struct *child, struct qz_thread_state *t,
					struct qz_scope_state *s, u64 now)
{
	bool process = child->tgid != parent->tgid;
	bool reported = creator && creator->scope == t->scope;

	if (process && creator)
		image__inherit(t->image, creator->image);
	if (process)
		event__forked(child, t, creator ? creator->image : 0, reported, now);
	if (!reported)
		return 0;
	__sync_fetch_and_add(&s->counters.creations, 1);
	event__creation(parent, creator, t->serial, process, s, now);
	return 0;
}

static __noinline int handle_fork(struct task_struct *parent, struct task_struct *child)
{
	bool process = child->tgid != parent->tgid;
	struct qz_thread_state *creator, *t;
	struct qz_control *ctl;
	struct qz_scope_state *s;
	u32 scope, image;
	u64 now;

	if (process && tell__is_untold(child))
		return 0;
	creator = thread__find(parent);
	ctl = control__get();
	if ((!creator && !every_process) || !ctl)
		return 0;
	now = bpf_ktime_get_ns();
	if (!creator && tell__is_untold(parent))
		creator = tell__state(parent, FRESH_TOLD, now);
	scope = fork__scope(child, creator, process, now);
	if (scope == QZ_NO_NUMBER)
		scope__refuse(1);
	s = scope__get(scope);
	if (!s)
		return 0;
	image = !process && creator ? creator->image : next_number(&ctl->next_image);
	t = thread__follow(child, scope, image, FRESH_FORKED, now);
	if (!t) {
		scope__give_back(scope, s);
		return 0;
	}
	return fork__report(parent, creator, child, t, s, now);
}

/* The process keeps its scope and has a new image; its other threads have ended before. */
static __always_inline int handle_exec(struct task_struct *task)
{
	struct qz_thread_state *t = thread__find(task);
	struct qz_control *ctl = control__get();
	struct qz_process_event e = {};

	if (!t || !ctl)
		return 0;
	e.parent = t->image;
	t->image = next_number(&ctl->next_image);
	t->page = t->slot = 0;
	t->tid = task__number(task); /* its leader's, whichever thread it was */
	event__fill_process(&e, task, t, QZ_IMAGE_EXEC, bpf_ktime_get_ns());
	event__send_process(&e);
	return 0;
}

#endif
