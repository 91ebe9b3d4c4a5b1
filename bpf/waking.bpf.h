/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time until woken (Quartz 1990, 3.2.5): when a wait ends while a processor of the scope's is free,
 * what was waited is charged to the code that the waker ran from the beginning of the wait, or since
 * it was itself woken, until the wake-up.
 */
#ifndef QUARTZ_WAKING_BPF_H
#define QUARTZ_WAKING_BPF_H

static __always_inline s64 task__syscall(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return arch__syscall_nr(regs);
}

/*
 * Whether the current thread wakes the sleeper, or an interrupt does that it was in the way of. What
 * cannot be asked on all kernels is told by the system calls of the two: code of a program is always
 * in one when it wakes somebody. An interrupt in the midst of a call that might do the same is
 * taken for the call.
 */
static __always_inline bool task__wakes(struct task_struct *waker, struct task_struct *sleeper)
{
	s64 does = task__syscall(waker), waits = arch__native_nr(task__syscall(sleeper));

	if (does < 0 || waits < 0 || waits == ARCH_NR_NANOSLEEP ||
	    waits == ARCH_NR_CLOCK_NANOSLEEP || BPF_CORE_READ_BITFIELD(sleeper, in_iowait))
		return false;
	if (!syscall__is_futex(waits))
		return true;
	does = arch__native_nr(does);
	return syscall__is_futex(does) || does == ARCH_NR_EXIT || does == ARCH_NR_EXIT_GROUP;
}

/* ---- samples ---- */

/* One entry per processor: the sample that is taken there, perhaps in the midst of a wake-up. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_scratch);
} episode_scratch SEC(".maps");

/* The sampler has walked the stack of a running thread. */
static __always_inline void waking__sample(struct task_struct *task, const struct unwinding *user,
					   u32 image)
{
	struct wake_window *e = wake_window__get(task);
	struct wait_scratch *w;
	u32 zero = 0;

	if (!e || !wake_window__wants(e))
		return;
	w = bpf_map_lookup_elem(&episode_scratch, &zero);
	if (!w || bpf_probe_read_kernel(&w->user, sizeof(w->user), user))
		return;
	w->image = image;
	w->scope = QZ_NO_SCOPE;
	w->cause = QZ_WAIT_RUNNING;
	w->nuser = unwind__frames(&w->user);
	wake_window__keep(e, release__number(w), bpf_ktime_get_ns());
}

/* ---- charging ---- */

struct charge {
	u32 scope, serial, object;
	u32 stack; /* of the wake-up */
	u64 from, ns;
};

static __always_inline void waking__add(const struct charge *c, u32 stack, u64 count, u64 ns)
{
	release__insert(QZ_WAIT_KEY(stack, QZ_WAKING, c->serial), c->object, c->scope, count, ns);
}

/* The first sample that was taken while the wait lasted, or their number. */
static __always_inline u32 waking__since(const struct wake_window *e, u64 from)
{
	u32 n = e->n, i;

	for (i = 0; i < WAKE_WINDOW_SAMPLES; i++)
		if (i >= n || (s64)(e->samples[i].time - from) >= 0)
			break;
	return i;
}

/* Shares the time out in equal parts; samples of one stack in a row are charged together. */
__noinline int waking__share(struct charge *c, struct wake_window *e)
{
	u32 first, n;
	u64 part, sum;

	if (!c || !e)
		return 0;
	first = waking__since(e, c->from);
	n = e->n;
	if (first >= n || n > WAKE_WINDOW_SAMPLES) {
		waking__add(c, c->stack, 1, c->ns);
		return 0;
	}
	part = c->ns / (n - first);
	sum = c->ns - part * (n - first);
	for (u32 i = 0; i < WAKE_WINDOW_SAMPLES; i++) {
		u32 next = (i + 1) & (WAKE_WINDOW_SAMPLES - 1);

		if (i < first)
			continue;
		if (i >= n)
			break;
		sum += part;
		if (i + 1 < n && e->samples[next].stack == e->samples[i].stack)
			continue;
		waking__add(c, e->samples[i].stack, 0, sum);
		sum = 0;
	}
	waking__add(c, c->stack, 1, 0);
	return 0;
}

/*
 * Whether a processor could have run the thread while it waited: one that runs nothing of the
 * scope's; for a thread that is bound to one processor, that one.
 */
static __always_inline bool waking__had_room(struct task_struct *task, struct qz_thread_state *t,
					     const struct qz_scope_state *s)
{
	struct qz_cpu_state *cpu;

	if (BPF_CORE_READ(task, nr_cpus_allowed) > 1)
		return scope__level(s) < nr_processors;
	cpu = cpu__get(t->cpu);
	return cpu && cpu->idle_since;
}

/* Who wakes: the current thread where it is of the scope, else nobody that is known. */
static __always_inline struct wake_window *waking__find_waker(struct charge *c,
							      struct task_struct *task, u64 now)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct qz_thread_state *w = thread__get(waker);
	struct wake_window *e;

	if (!w || w->state == QZ_DEAD || w->scope != c->scope || !task__wakes(waker, task))
		return NULL;
	e = wake_window__get(waker);
	if (!e)
		return NULL;
	c->serial = w->serial;
	c->stack = release__stack(waker, w, now);
	if ((s64)(e->began - c->from) > 0)
		c->from = e->began;
	return e;
}

static __always_inline void waking__charge(struct task_struct *task, struct qz_thread_state *t,
					   u64 now)
{
	struct charge c = {.scope = t->scope, .stack = QZ_WAIT_RUNNING, .from = t->since};
	struct qz_scope_state *s = scope__get(t->scope);
	struct wake_window *e;

	if (!s || !s->began)
		return;
	c.object = wait_account__at(t, wait_account__site(t))->object;
	if ((s64)(s->began - c.from) > 0)
		c.from = s->began;
	e = waking__find_waker(&c, task, now);
	if ((s64)(now - c.from) > 0 && waking__had_room(task, t, s))
		c.ns = now - c.from;
	if (c.ns)
		__sync_fetch_and_add(&s->woken_ns, c.ns);
	if (e && c.ns)
		waking__share(&c, e);
	else
		waking__add(&c, c.stack, 1, c.ns);
}

/*
 * sched_waking, because it always runs where the waker does: sched_wakeup may come from the
 * processor that the woken thread is given to.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct qz_thread_state *t = thread__get(task);
	struct wake_window *e;
	u64 now;

	if (!t || frozen)
		return 0;
	object__note_waking(t);
	if (*(volatile u32 *)&t->state != QZ_BLOCKED)
		return 0;
	now = bpf_ktime_get_ns();
	waking__charge(task, t, now);
	e = wake_window__get(task);
	if (e)
		wake_window__begin(e, now);
	return 0;
}

#endif
