/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ends waits, and from where. Where the time until woken is not wanted, wake-ups that let go of an
 * object are looked at: each, as long as they are rare, else one of so many, which stands for those
 * of the scopes before it that were passed.
 */
#ifndef QUARTZ_RELEASE_BPF_H
#define QUARTZ_RELEASE_BPF_H

/* ---- stacks ---- */

/* As wait_stack__probe, of a stack of running code. */
__noinline int release__probe(struct wait_scratch *w, u64 hash, u32 at)
{
	u32 index = at & (nr_wait_stacks - 1);
	struct qz_wait_stack *slot = bpf_map_lookup_elem(&wait_stacks, &index);
	struct qz_control *ctl = control__get();
	u64 taken;

	if (!slot || !w || !ctl)
		return PROBE_NO_ROOM;
	taken = *(volatile u64 *)&slot->stack.hash;
	if (!taken) {
		if (!wait_stack__may_add(&ctl->running_stacks, &ctl->running_stacks_lost))
			return PROBE_NO_ROOM;
		taken = __sync_val_compare_and_swap(&slot->stack.hash, 0, hash);
		if (!taken)
			return wait_stack__fill(slot, index, w) ? index : PROBE_NO_ROOM;
	}
	if (taken != hash || !wait_stack__is(slot, w))
		return PROBE_OTHER;
	return slot->stack.stored == QZ_STACK_STORED ? index : PROBE_NO_ROOM;
}

/* The number of a stack of running code, or QZ_WAIT_RUNNING when there is no room. */
__noinline u32 release__number(struct wait_scratch *w)
{
	int found = PROBE_OTHER;
	u64 hash;

	if (!w)
		return QZ_WAIT_RUNNING;
	hash = wait_stack__hash(w);
	for (u32 i = 0; i < PROBES && found == PROBE_OTHER; i++)
		found = release__probe(w, hash, first_slot(hash) + i);
	return found >= 0 ? QZ_WAIT_CAUSES + found : QZ_WAIT_RUNNING;
}

/* The stack of the current thread, walked anew unless it was shortly ago at the same place. */
static __noinline u32 release__stack(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct qz_cpu_state *cpu = cpu__this();
	struct wait_scratch *w;
	u32 key = SCRATCH_LEAVING; /* the waker is not leaving: nothing is between the two */
	u32 where;

	w = bpf_map_lookup_elem(&wait_scratch, &key);
	if (!task || !t || !w || !cpu)
		return QZ_WAIT_RUNNING;
	where = first_slot(mix(mix(mix(arch__syscall_nr(regs), arch__arg(regs, 1)), arch__sp(regs)),
			       arch__ip(regs))) |
		1;
	if (t->waiting.woke == where && wait_stack__is_fresh(t->waiting.woke_walked, now, cpu))
		return t->waiting.woke_stack;
	w->image = t->image;
	w->scope = QZ_NO_SCOPE;
	w->cause = QZ_WAIT_RUNNING;
	if (!unwind__current(&w->user, task, t->image)) {
		w->user.frames[0] = arch__ip(regs);
		w->user.depth = 1;
	}
	w->nuser = unwind__frames(&w->user);
	t->waiting.woke_stack = release__number(w);
	t->waiting.woke = unwind__was_early(&w->user) ? 0 : where;
	t->waiting.woke_walked = now >> QZ_WALKED_SHIFT;
	return t->waiting.woke_stack;
}

/* ---- adding ---- */

__noinline int release__insert(u64 key, u32 object, u32 scope, u64 count, u64 ns)
{
	struct waits_figures add = {
		.key = key, .object = object, .scope = scope, .count = count, .blocked_ns = ns};
	int room = wait_account__add_row(&add);
	struct qz_control *ctl = control__get();
	struct qz_scope_state *s;

	if (room == WAITS_NEW && ctl)
		__sync_fetch_and_add(&ctl->waking_rows, 1);
	if (room > WAITS_FULL)
		return 0;
	s = scope__get(scope);
	if (!s)
		return 0;
	__sync_fetch_and_add(&s->wakings_lost, 1);
	__sync_fetch_and_add(&s->woken_lost_ns, ns);
	return 0;
}

/* ---- looking ---- */

/*
 * As far apart are those that are looked at, where there are many: to look takes some 0.3 us, or 3 where a
 * stack is walked.
 */
#define RELEASE_RARE	 500000ull /* ns, at the full rate */
#define RELEASE_MAX_STEP 1024	   /* of so many wake-ups, on average, at least one is looked at */

struct release_gate {
	u64 last;   /* when one was looked at */
	u32 step;   /* one of so many is, on average */
	u32 stands; /* for how many the next one stands */
};

/* One entry per processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct release_gate);
} release_gates SEC(".maps");

/*
 * A wake-up is looked at: for how many it stands, and how many are passed from now on. By chance, lest
 * a program that wakes in turn from the same places is always seen at the same one.
 */
static __always_inline u32 release__stands(struct qz_cpu_state *cpu, u64 now)
{
	u32 zero = 0, stands, step;
	struct release_gate *gate = bpf_map_lookup_elem(&release_gates, &zero);

	if (!gate)
		return 1;
	stands = gate->stands;
	step = gate->step;
	if (now - gate->last > RELEASE_RARE << cpu->halvings)
		step /= 2;
	else if (step < RELEASE_MAX_STEP)
		step = 2 * step;
	if (!step)
		step = 1;
	gate->last = now;
	gate->step = step;
	gate->stands = step > 1 ? 1 + bpf_get_prandom_u32() % (2 * step - 1) : 1;
	cpu->wakings_left = gate->stands - 1;
	return stands ?: 1;
}

/* Wake-ups have a quarter of the table at most, lest waits have no room. */
static __always_inline bool release__has_room(struct qz_scope_state *s, u32 count)
{
	struct qz_control *ctl = control__get();

	if (ctl && *(volatile u32 *)&ctl->waking_rows < nr_waits / 4)
		return true;
	if (s)
		__sync_fetch_and_add(&s->wakings_lost, count);
	return false;
}

static __noinline int release__look(struct qz_thread_state *t, struct qz_cpu_state *cpu)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct qz_thread_state *w;
	u32 stands, object, stack;
	u64 now;

	if (!t || !cpu)
		return 0;
	now = bpf_ktime_get_ns();
	stands = release__stands(cpu, now);
	w = thread__find(waker);
	if (!w || t->scope != w->scope || w->state == QZ_DEAD)
		return 0;
	object = *(volatile u16 *)&t->waiting.queued;
	if (!object || !object__is_released(object, t) ||
	    !release__has_room(scope__get(t->scope), stands))
		return 0;
	group__notice(waker, w, now);
	stack = release__stack(waker, w, now);
	return release__insert(QZ_WAIT_KEY(stack, QZ_WAKING, w->serial), object, t->scope,
			       (u64)stands << t->waiting.weight, 0);
}

static __always_inline int handle_waking(struct task_struct *task, struct qz_cpu_state *cpu)
{
	struct qz_thread_state *t = thread__get(task);
	bool queued;
	u64 now;

	if (!t || frozen)
		return 0;
	queued = *(volatile u16 *)&t->waiting.queued;
	if (wait_spacing && !queued)
		return 0;
	object__note_waking(t);
	if (queued && cpu->wakings_left)
		cpu->wakings_left--;
	else if (queued)
		release__look(t, cpu);
	if (wanted_wakeup) /* it does the rest */
		return 0;
	now = bpf_ktime_get_ns();
	if (!wait_spacing)
		thread__wake(t, now);
	object__leave_woken(t, now);
	return 0;
}

/*
 * sched_waking, because it always runs where the waker does. Where each wait is looked at, the thread is ready from here
 * on, unless on_wakeup is there.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_release, struct task_struct *task)
{
	struct qz_cpu_state *cpu;

	if (!queued__maybe(task)) /* as most: to time this would take as long */
		return 0;
	cpu = cpu__this();
	if (!cpu)
		return 0;
	self_cost__begin_short(cpu, QZ_TIMED_WAKEUP);
	handle_waking(task, cpu);
	self_cost__end_short(cpu, QZ_TIMED_WAKEUP);
	return 0;
}

#endif
