/* SPDX-License-Identifier: GPL-2.0-only */
/* Wake-ups and samples, for bpf/critical_path.bpf.h. */
#ifndef QUARTZ_PATH_EVENTS_BPF_H
#define QUARTZ_PATH_EVENTS_BPF_H

/* ---- wake-ups ---- */

/* The thread that wakes, where it is of the scope and does it on purpose. */
static __always_inline struct qz_thread_state *
critical_path__waker(struct task_struct *waker, struct task_struct *task, u32 scope)
{
	struct qz_thread_state *w = thread__get(waker);

	return w && w->state != QZ_DEAD && w->scope == scope && task__wakes(waker, task) ? w : NULL;
}

static __always_inline u32 critical_path__object(const struct qz_thread_state *t)
{
	u32 object = *(volatile u16 *)&t->waiting.queued;
	u32 *candidate = object ? bpf_map_lookup_elem(&path_objects, &object) : NULL;

	return candidate ? *candidate : 0;
}

static __noinline int critical_path__wake(struct task_struct *task, struct qz_thread_state *t)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct thread_path *p, *other = NULL;
	struct qz_thread_state *w;
	struct qz_path_scope *s;
	u64 now, held;

	if (!task || !t)
		return 0;
	p = critical_path__get(task);
	s = critical_path__scope(t->scope);
	if (!p || !s)
		return 0;
	now = bpf_ktime_get_ns();
	held = now - t->since;
	critical_path__settle(p, t->ns[QZ_RUNNING], critical_path__place(task));
	w = critical_path__waker(waker, task, t->scope);
	if (w)
		other = critical_path__get(waker);
	if (!w || !other) {
		__sync_fetch_and_add(&s->kept, held);
		return 0;
	}
	__sync_fetch_and_add(&s->freed, held);
	critical_path__settle(other, critical_path__ran(w, now), critical_path__place(waker));
	return critical_path__release(p, other, held, critical_path__object(t));
}

/* sched_waking, because it always runs where the waker does. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_path, struct task_struct *task)
{
	struct qz_thread_state *t = thread__get(task);

	if (!t || frozen || *(volatile u32 *)&t->state != QZ_BLOCKED)
		return 0;
	self_cost__begin(QZ_TIMED_WAKEUP);
	critical_path__wake(task, t);
	self_cost__end(QZ_TIMED_WAKEUP);
	return 0;
}

/* ---- samples ---- */

/* The candidate whose code is at an address, + 1; 0: none. */
__noinline u32 critical_path__at(const struct qz_path_image *image, u64 address)
{
	u32 n;

	if (!image)
		return 0;
	n = image->n;
	for (u32 i = 0; i < QZ_PATH_RANGES; i++) {
		if (i >= n)
			break;
		if (address - image->ranges[i].start <
		    image->ranges[i].end - image->ranges[i].start)
			return image->ranges[i].candidate + 1;
	}
	return 0;
}

/* Those on a stack: a bit for each. */
__noinline u32 critical_path__on(const struct unwinding *u, u32 number)
{
	struct qz_path_image *image = bpf_map_lookup_elem(&path_images, &number);
	u32 on = 0, found;

	if (!image || !u)
		return 0;
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= unwind__frames(u))
			break;
		found = critical_path__at(image, u->frames[i] - !!i);
		if (found)
			on |= 1u << ((found - 1) & (QZ_CANDIDATES - 1));
	}
	return on;
}

__noinline int critical_path__count(struct thread_path *p, u32 on)
{
	if (!p)
		return 0;
	critical_path__renew(p);
	p->samples++;
	for (u32 i = 0; i < QZ_CANDIDATES; i++)
		p->in[i] += on >> i & 1;
	return 0;
}

/* The sampler has walked the stack of a running thread. What waits in a loop is no work of a candidate. */
static __always_inline void critical_path__sample(struct task_struct *task,
						  const struct unwinding *user, u32 image,
						  bool spinning)
{
	struct thread_path *p = critical_path__get(task);

	if (!p || !path_candidates)
		return;
	if (spinning)
		p->spins++;
	critical_path__count(p, spinning ? 0 : critical_path__on(user, image));
}

#endif
