/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a thread waits: its stack, which is kept once for all waits there. */
#ifndef QUARTZ_WAIT_STACK_BPF_H
#define QUARTZ_WAIT_STACK_BPF_H

struct wait_scratch {
	struct unwinding user;
	u32 image, cause, scope;
	s32 asleep; /* see struct qz_wait_stack */
	/* for why they are volatile, see struct sample_scratch */
	volatile u32 nuser;
	volatile u32 nframes; /* with those of Python */
};

/* Whose stack it is: that of the thread that is leaving the processor, or of one found asleep. */
enum wait_scratch_use { SCRATCH_LEAVING, SCRATCH_FOUND, SCRATCH_USES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_USES);
	__type(key, u32);
	__type(value, struct wait_scratch);
} wait_scratch SEC(".maps");

__noinline u64 wait_stack__hash(struct wait_scratch *w)
{
	u64 h;

	if (!w)
		return 1;
	h = mix(mix(mix(w->image, w->cause), w->user.end), w->asleep);
	return unwind__hash(&w->user, w->nframes, h) ?: 1;
}

__noinline int wait_stack__store_frame(u32 at, u64 address)
{
	u32 key = at & (nr_wait_frames - 1);
	u64 *frame = bpf_map_lookup_elem(&wait_frames, &key);

	if (frame)
		*frame = address;
	return 0;
}

struct wait_frames_copy {
	struct wait_scratch *w;
	u32 offset;
};

/* As a turn of a loop. */
static long wait_stack__store_turn(u32 i, struct wait_frames_copy *copy)
{
	if (i >= copy->w->nframes)
		return 1;
	wait_stack__store_frame(copy->offset + i, copy->w->user.frames[i & (QZ_ALL_FRAMES - 1)]);
	return 0;
}

/* Copies the frames to the ring; their offset in it, or -1 when quartzd has not made room. */
__noinline s64 wait_stack__store(struct wait_scratch *w)
{
	struct qz_control *ctl = control__get();
	struct wait_frames_copy copy = {.w = w};
	u32 used, offset;

	if (!w || !ctl)
		return -1;
	offset = __sync_fetch_and_add(&ctl->wait_frames_used, w->nframes);
	used = offset + w->nframes - *(volatile u32 *)&ctl->wait_frames_read;
	if (used > nr_wait_frames)
		return -1;
	copy.offset = offset;
	LOOP(QZ_ALL_FRAMES, wait_stack__store_turn, &copy);
	return offset;
}

static __always_inline void wait_stack__count_frames(struct wait_scratch *w)
{
	w->nuser = unwind__frames(&w->user);
	w->nframes = w->nuser + unwind__python_frames(&w->user);
}

/* Half of the stacks at most are of running code, and half of threads found asleep, lest waits have no room. */
static __always_inline bool wait_stack__may_add(const u32 *stacks, u64 *lost)
{
	if (*(const volatile u32 *)stacks < nr_wait_stacks / 2)
		return true;
	__sync_fetch_and_add(lost, 1);
	return false;
}

/* Those that were stored; quartzd takes off what it frees. */
static __always_inline void wait_stack__count(const struct wait_scratch *w)
{
	struct qz_control *ctl = control__get();

	if (ctl && w->cause == QZ_WAIT_RUNNING)
		__sync_fetch_and_add(&ctl->running_stacks, 1);
	if (ctl && w->asleep)
		__sync_fetch_and_add(&ctl->asleep_stacks, 1);
}

static __always_inline struct qz_stack_slot wait_stack__of(const struct wait_scratch *w)
{
	return (struct qz_stack_slot) {
		.image = w->image,
		.nuser = w->nuser,
		.depth = w->user.depth,
		.end = w->user.end,
		.npython = unwind__python_frames(&w->user),
		.python_depth = w->user.npython,
	};
}

/* Fills a slot just taken, which is marked before: quartzd sees it when it sees that the ring has its frames. */
static __always_inline bool wait_stack__fill(struct qz_wait_stack *slot, u32 index,
					     struct wait_scratch *w)
{
	const struct qz_stack_slot of = wait_stack__of(w);
	s64 offset;

	used__mark(USED_STACKS, index);
	offset = wait_stack__store(w);
	if (offset >= 0)
		wait_stack__count(w);
	stack_slot__set(&slot->stack, &of);
	slot->stack.taken = bpf_ktime_get_ns();
	slot->stack.offset = offset;
	slot->cause = w->cause;
	slot->asleep = w->asleep;
	slot->scope = w->scope;
	stack_slot__store(&slot->stack, offset < 0 ? QZ_STACK_NO_ROOM : QZ_STACK_STORED);
	return offset >= 0;
}

/* Whether a slot with the same hash has this stack. */
static __always_inline bool wait_stack__is(const struct qz_wait_stack *slot,
					   const struct wait_scratch *w)
{
	const struct qz_stack_slot of = wait_stack__of(w);

	return stack_slot__is(&slot->stack, &of) && slot->cause == w->cause &&
	       slot->asleep == w->asleep;
}

static __always_inline bool wait_stack__has_share(struct wait_scratch *w)
{
	return quota__take(w->scope, QZ_SHARE_STACKS, nr_wait_stacks) &&
	       quota__take_frames(w->scope, w->nframes);
}

enum wait_probe { PROBE_OTHER = -1, PROBE_NO_ROOM = -2, PROBE_NO_SHARE = -3 };

/* Looks for a stack in a slot, which it takes when it is free: its index where it has it, or why not. */
__noinline int wait_stack__probe(struct wait_scratch *w, u64 hash, u32 at)
{
	u32 index = at & (nr_wait_stacks - 1);
	struct qz_wait_stack *slot = bpf_map_lookup_elem(&wait_stacks, &index);
	u64 taken;

	if (!slot || !w)
		return PROBE_NO_ROOM;
	if (!*(volatile u64 *)&slot->stack.hash && !wait_stack__has_share(w))
		return PROBE_NO_SHARE;
	taken = slot__take(&slot->stack.hash, hash);
	if (taken && (taken != hash || !wait_stack__is(slot, w)))
		return PROBE_OTHER;
	if (taken ? slot->stack.stored == QZ_STACK_STORED : wait_stack__fill(slot, index, w))
		return index;
	return PROBE_NO_ROOM;
}

/* As a turn of a loop. */
static long wait_stack__probe_turn(u32 i, struct probing *p)
{
	p->found = wait_stack__probe(p->of, p->hash, first_slot(p->hash) + i);
	return p->found != PROBE_OTHER;
}

/* The number of a stack, see QZ_LOG_PLACE. Without a share, the wait has its cause alone. */
__noinline u32 wait_stack__number(struct wait_scratch *w)
{
	struct probing p = {.of = w, .found = PROBE_OTHER};
	struct qz_control *ctl;

	if (!w)
		return QZ_WAIT_UNKNOWN;
	p.hash = wait_stack__hash(w);
	LOOP(PROBES, wait_stack__probe_turn, &p);
	if (p.found >= 0)
		return QZ_WAIT_CAUSES + p.found;
	ctl = control__get();
	if (ctl && p.found != PROBE_NO_SHARE)
		__sync_fetch_and_add(&ctl->wait_stacks_lost, 1);
	return w->cause;
}

/*
 * Cause and stack of the current thread's wait. Without tables, the innermost frame alone. The cause
 * is read back from memory, where the verifier forgets which one it is: else it would walk the stack
 * once for each.
 */
static __always_inline u32 wait_stack__walk(struct task_struct *task, struct qz_thread_state *t,
					    u32 state, u32 *cause)
{
	struct pt_regs *regs;
	struct wait_scratch *w;
	struct qz_control *ctl;
	u32 key = SCRATCH_LEAVING;

	w = bpf_map_lookup_elem(&wait_scratch, &key);
	if (!w)
		return QZ_WAIT_UNKNOWN;
	w->image = t->image;
	w->scope = t->scope;
	w->user.asked = 0;
	w->cause = wait_cause__find(task, state);
	*cause = *(volatile u32 *)&w->cause;
	if (*cause == QZ_WAIT_KERNEL || task__is_kernels(task))
		return *(volatile u32 *)&w->cause;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!unwind__current(&w->user, task, w->image, t)) {
		w->user.frames[0] = arch__ip(regs);
		w->user.depth = 1;
	}
	wait_stack__count_frames(w);
	ctl = control__get();
	if (ctl &&
	    (w->user.end == QZ_UNWIND_STALE || w->user.end == QZ_UNWIND_NO_REGION || w->user.asked))
		event__unknown_code(ctl, bpf_ktime_get_ns());
	return wait_stack__number(w);
}

/* Whether code was met that quartzd analyzes now: the next walk comes further. */
static __always_inline bool wait_stack__asked(void)
{
	u32 key = SCRATCH_LEAVING;
	struct wait_scratch *w = bpf_map_lookup_elem(&wait_scratch, &key);

	return w && w->user.asked;
}

/* ---- threads that sleep when they are found ---- */

/* Its registers: the stack of another thread cannot be read here. quartzd does. */
static __always_inline u32 wait_stack__registers(struct task_struct *task,
						 struct qz_thread_state *t, u32 cause)
{
	u32 key = SCRATCH_FOUND;
	struct wait_scratch *w = bpf_map_lookup_elem(&wait_scratch, &key);
	struct qz_control *ctl = control__get();

	if (!w || !ctl || cause == QZ_WAIT_KERNEL ||
	    !wait_stack__may_add(&ctl->asleep_stacks, &ctl->wait_stacks_lost))
		return cause;
	w->image = t->image;
	w->scope = t->scope;
	w->cause = cause;
	w->asleep = t->tid;
	registers__read((struct qz_user_registers *)w->user.frames, task);
	w->nuser = w->nframes = sizeof(struct qz_user_registers) / sizeof(u64);
	w->user.depth = w->nuser;
	w->user.end = QZ_UNWIND_NOT_READY;
	return wait_stack__number(w);
}

/* A command of quartzd's own that waits to be let go: that is no wait of the scope's. */
static __always_inline bool task__is_launched(struct task_struct *task)
{
	return BPF_CORE_READ(task, real_parent, tgid) == bpf_get_current_pid_tgid() >> 32;
}

/* Where a thread waits, and for what, that sleeps already when it is found. */
static __noinline int wait_stack__found(struct task_struct *task, struct qz_thread_state *t)
{
	u32 cause, stack;

	if (!task || !t || !task__sleeps(task) || task__is_launched(task))
		return 0;
	cause = wait_cause__find(task, BPF_CORE_READ(task, __state));
	stack = wait_stack__registers(task, t, cause);
	t->place = QZ_LOG_PLACE(stack, object__of_wait(task, t, cause, stack));
	return 0;
}

#endif
