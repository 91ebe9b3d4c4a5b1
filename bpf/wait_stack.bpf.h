/* SPDX-License-Identifier: GPL-2.0-only */
/* A wait begins: where the thread waits, its stack and what for, when it leaves its processor. */
#ifndef QUARTZ_WAIT_STACK_BPF_H
#define QUARTZ_WAIT_STACK_BPF_H

/*
 * A thread that waits at a place where it waited so shortly ago is taken to have the same stack. Walks cost
 * more than samples where switches are many: each halving of the rate makes them a fourth of what they were,
 * down to one a second.
 */
#define WAIT_STACK_AGE	     1000000ull /* ns, at the full rate */
#define WAIT_STACK_DOUBLINGS 10		/* of it, at most */
#define WAIT_STACK_SAMPLED   6		/* of it, where not all waits are looked at */
#define WAIT_PLACES	     1024	/* a power of two */

static __always_inline u64 wait_stack__age(const struct qz_cpu_state *cpu)
{
	u32 doublings = 2 * cpu->halvings;

	if (wait_spacing) /* those that are looked at are further apart than that */
		doublings += WAIT_STACK_SAMPLED;

	return WAIT_STACK_AGE << (doublings < WAIT_STACK_DOUBLINGS ? doublings
								   : WAIT_STACK_DOUBLINGS);
}

/* Whether a stack was walked so shortly ago; both in units of qz_wait_site.walked. */
static __always_inline bool wait_stack__is_fresh(u32 walked, u64 now,
						 const struct qz_cpu_state *cpu)
{
	return (u32)(now >> QZ_WALKED_SHIFT) - walked < wait_stack__age(cpu) >> QZ_WALKED_SHIFT;
}

struct wait_scratch {
	struct unwinding user;
	u32 image, cause, scope;
	s32 asleep;	    /* see struct qz_wait_stack */
	volatile u32 nuser; /* for why it is volatile, see struct sample_scratch */
};

/* Whose stack it is: that of the thread that is leaving the processor, or of one found asleep. */
enum wait_scratch_use { SCRATCH_LEAVING, SCRATCH_FOUND, SCRATCH_USES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_USES);
	__type(key, u32);
	__type(value, struct wait_scratch);
} wait_scratch SEC(".maps");

/* The stacks last walked, for threads that wait at more places than they have sites. */
struct wait_place {
	u64 place;  /* hash of thread, registers and, but for a futex word, what is waited for */
	u64 image;  /* of the thread, whose registers say what it likes */
	u64 walked; /* when, as qz_wait_site.walked */
	u32 stack;  /* its number, as in struct qz_wait_site */
	u32 cause;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WAIT_PLACES);
	__type(key, u32);
	__type(value, struct wait_place);
} wait_places SEC(".maps");

__noinline u64 wait_stack__hash(struct wait_scratch *w)
{
	u64 h;

	if (!w)
		return 1;
	h = mix(mix(mix(w->image, w->cause), w->user.end), w->asleep);
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= w->nuser)
			break;
		h = mix(h, w->user.frames[i]);
	}
	return h ? h : 1;
}

__noinline int wait_stack__store_frame(u32 at, u64 address)
{
	u32 key = at & (nr_wait_frames - 1);
	u64 *frame = bpf_map_lookup_elem(&wait_frames, &key);

	if (frame)
		*frame = address;
	return 0;
}

/* Copies the frames to the ring; their offset in it, or -1 when quartzd has not made room. */
__noinline s64 wait_stack__store(struct wait_scratch *w)
{
	struct qz_control *ctl = control__get();
	u32 used, offset;

	if (!w || !ctl)
		return -1;
	offset = __sync_fetch_and_add(&ctl->wait_frames_used, w->nuser);
	used = offset + w->nuser - *(volatile u32 *)&ctl->wait_frames_read;
	if (used > nr_wait_frames)
		return -1;
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= w->nuser)
			break;
		wait_stack__store_frame(offset + i, w->user.frames[i]);
	}
	return offset;
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
	       quota__take_frames(w->scope, w->nuser);
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
	taken = __sync_val_compare_and_swap(&slot->stack.hash, 0, hash);
	if (taken && (taken != hash || !wait_stack__is(slot, w)))
		return PROBE_OTHER;
	if (taken ? slot->stack.stored == QZ_STACK_STORED : wait_stack__fill(slot, index, w))
		return index;
	return PROBE_NO_ROOM;
}

/* The number of a stack, see struct qz_wait_site. Without a share, the wait has its cause alone. */
static __always_inline u32 wait_stack__number(struct wait_scratch *w)
{
	u64 hash = wait_stack__hash(w);
	int found = PROBE_OTHER;
	struct qz_control *ctl;

	for (u32 i = 0; i < PROBES && found == PROBE_OTHER; i++)
		found = wait_stack__probe(w, hash, first_slot(hash) + i);
	if (found >= 0)
		return QZ_WAIT_CAUSES + found;
	ctl = control__get();
	if (ctl && found != PROBE_NO_SHARE)
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
	w->cause = wait_cause__find(task, state);
	*cause = *(volatile u32 *)&w->cause;
	if (*cause == QZ_WAIT_KERNEL || task->flags & PF_KTHREAD_BIT)
		return *cause;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!unwind__current(&w->user, task, w->image)) {
		w->user.frames[0] = arch__ip(regs);
		w->user.depth = 1;
	}
	w->nuser = unwind__frames(&w->user);
	ctl = control__get();
	if (ctl && (w->user.end == QZ_UNWIND_STALE || w->user.end == QZ_UNWIND_NO_REGION))
		event__unknown_code(ctl, bpf_ktime_get_ns());
	return wait_stack__number(w);
}

static __always_inline u32 wait_stack__blocked_site(u32 where)
{
	u32 at = (where >> 1) % QZ_SITES; /* the lowest bit is always set */

	return at < QZ_BLOCKED_SITES ? at : 0;
}

/* Makes a site one of this stack and object, emptying it when it was another's. */
__noinline int wait_stack__settle(struct qz_thread_state *t, u32 at, u32 stack, u32 object)
{
	struct qz_wait_site *site;

	if (!t)
		return 0;
	site = wait_account__at(t, at);
	if (site->stack == stack && site->object == object)
		return 0;
	wait_account__flush(t, at);
	if (site->object != object) {
		object__refer(object, 1);
		object__refer(site->object, -1);
		site->object = object;
	}
	site->stack = stack;
	return 0;
}

/*
 * Walks the stack unless that was done shortly ago, by the site's units: were it fresh here for longer, every wait
 * in between would come here, and look for its object. A preempted thread may be anywhere: place is 0.
 */
static __always_inline void wait_stack__visit(struct task_struct *task, struct qz_thread_state *t,
					      u32 state, struct wait_place *p, u64 place)
{
	struct qz_cpu_state *cpu = cpu__this();
	u64 now = bpf_ktime_get_ns();

	if (!cpu)
		return;
	if (place && p->place == place && p->image == t->image &&
	    wait_stack__is_fresh(p->walked, now, cpu)) {
		cpu->wait_reuses++;
		return;
	}
	cpu->wait_walks++;
	p->cause = QZ_WAIT_UNKNOWN;
	p->stack = wait_stack__walk(task, t, state, &p->cause);
	p->place = place;
	p->image = t->image;
	p->walked = now >> QZ_WALKED_SHIFT;
	self_cost__add_walk(bpf_ktime_get_ns() - now);
}

/* The thread waits where none of its sites knows. */
static __noinline int wait_stack__look(struct task_struct *task, struct qz_thread_state *t, u32 at,
				       u32 state, u64 place)
{
	u32 key = first_slot(place) & (WAIT_PLACES - 1), object;
	struct wait_place *p = bpf_map_lookup_elem(&wait_places, &key);

	if (!task || !t || !p)
		return 0;
	wait_stack__visit(task, t, state, p, place);
	object = object__of_wait(task, t, *(volatile u32 *)&p->cause, p->stack);
	lock_owner__note(t, object);
	wait_stack__settle(t, at, p->stack, object);
	wait_account__at(t, at)->walked = p->walked;
	return 0;
}

/* The thread waits where it did, for another futex word. */
static __noinline int wait_stack__change_object(struct task_struct *task, struct qz_thread_state *t,
						u32 at)
{
	struct qz_wait_site *site;
	u32 object;

	if (!task || !t)
		return 0;
	site = wait_account__at(t, at);
	object = object__of_wait(task, t, QZ_WAIT_FUTEX, site->stack);
	lock_owner__note(t, object);
	wait_stack__settle(t, at, site->stack, object);
	return 0;
}

static __always_inline u64 wait_stack__place(const struct qz_thread_state *t, u64 where, u64 nr,
					     u64 arg)
{
	return mix(mix(where, t->serial), syscall__is_futex(nr) ? 0 : arg);
}

/*
 * The site for a wait that begins: one of the thread's, which is emptied when it was another place's.
 * A preempted thread may be anywhere, and where is known as finely as samples tell it; so its stack
 * is walked once in a while whatever its place.
 */
static __always_inline struct qz_wait_site *wait_stack__site(struct task_struct *task,
							     struct qz_thread_state *t,
							     struct qz_cpu_state *cpu, u32 state,
							     u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 nr = arch__syscall_nr(regs), first = arch__arg(regs, 1);
	u64 place = mix(mix(nr, arch__sp(regs)), arch__ip(regs));
	u32 where = first_slot(place) | 1, arg = first_slot(mix(0, first));
	u32 at = state ? wait_stack__blocked_site(where) : QZ_PREEMPTED_SITE;
	struct qz_wait_site *site = wait_account__at(t, at);
	bool known = site->where == where || (!state && site->where);

	t->waiting.flags = at | (t->waiting.flags & (QZ_WAITING_PASSED | QZ_WAITING_STEP));
	if (known && wait_stack__is_fresh(site->walked, now, cpu) &&
	    (!state || site->arg == arg || syscall__is_futex(nr))) {
		cpu->wait_reuses++;
		if (state && site->arg != arg)
			wait_stack__change_object(task, t, at);
	} else {
		wait_stack__look(task, t, at, state,
				 state ? wait_stack__place(t, place, nr, first) : 0);
	}
	site->where = where;
	site->arg = arg;
	return site;
}

/* The thread leaves its processor; state is 0 when it is preempted. */
static __always_inline void wait_stack__begin(struct task_struct *task, struct qz_thread_state *t,
					      struct qz_cpu_state *cpu, u32 state, u64 now)
{
	struct qz_scope_state *s;
	struct qz_wait_site *site;

	if (t->waiting.queued) /* found asleep, and woken before it was followed */
		object__leave(t, false, now);
	wait_gate__look(t, cpu, state, now);
	s = scope__get(t->scope);
	site = wait_stack__site(task, t, cpu, state, now);
	if (site->object)
		object__join(t, site->object, now);
	if (s && !thread__is_single(t))
		t->waiting.nominal = qz_nominal__integral(*(volatile u64 *)&s->runnable, now);
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
	w->nuser = sizeof(struct qz_user_registers) / sizeof(u64);
	w->user.depth = w->nuser;
	w->user.end = QZ_UNWIND_NOT_READY;
	return wait_stack__number(w);
}

/* A command of quartzd's own that waits to be let go: that is no wait of the scope's. */
static __always_inline bool task__is_launched(struct task_struct *task)
{
	return BPF_CORE_READ(task, real_parent, tgid) == bpf_get_current_pid_tgid() >> 32;
}

/*
 * What a thread waits for that sleeps already when it is found. Its state is not published yet, so
 * that no switch or wake-up can come between. Should it run again before that, its next wait or its
 * coming back takes it out of the queue.
 */
static __noinline int wait_stack__found(struct task_struct *task, struct qz_thread_state *t,
					u64 now)
{
	struct qz_wait_site *site;
	u32 cause;

	if (!task || !t)
		return 0;
	site = &t->waiting.sites[0];
	site->stack = QZ_WAIT_UNKNOWN;
	site->object = 0;
	t->waiting.queued = 0;
	t->waiting.acquired = 0;
	if (!task__sleeps(task) || task__is_launched(task))
		return 0;
	cause = wait_cause__find(task, BPF_CORE_READ(task, __state));
	site->stack = wait_stack__registers(task, t, cause);
	site->object = object__of_wait(task, t, cause, site->stack);
	object__refer(site->object, 1);
	if (site->object)
		object__join(t, site->object, now);
	return 0;
}

/* What was found of a thread that cannot be followed is taken back. */
static __noinline int wait_stack__drop(struct qz_thread_state *t, u64 now)
{
	if (!t)
		return 0;
	object__leave(t, false, now);
	object__refer(t->waiting.sites[0].object, -1);
	return 0;
}

#endif
