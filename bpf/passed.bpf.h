/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes whose fork was passed: where there are many forks, one of so many is looked at. The others have no scope and
 * no state, and nothing is done at their switches. The kernel keeps account of how long such a process ran and was
 * ready since its start; when it ends, its group (bpf/group.bpf.h) gets that. As soon as something has to be known of
 * it, it is followed, with all that it did since its start, as if its fork had been looked at: when it is sampled, gets a
 * second thread, maps memory before it executes anything, has a child that is looked at, and when quartzd looks at all
 * threads. While as many scopes as there may be are in use, it stays as it is, and is sampled in vain.
 *
 * A process without a state that was started after passed_since is one whose fork was passed.
 */
#ifndef QUARTZ_PASSED_BPF_H
#define QUARTZ_PASSED_BPF_H

#define PF_FORKNOEXEC_BIT 0x40 /* include/linux/sched.h, since 2.4 */

#define PASSED_ANCESTORS 4 /* that are asked for their unit */

/* ns, at most, between forks that are looked at on a processor, at the full rate; and what is saved up for bursts, as a shell's. */
#define FORK_RARE  10000000ull
#define FORK_SAVED 1000000000ull

/* When all threads had been found; 0: not yet, or no fork is passed. Set by quartzd. */
volatile __u64 passed_since;

/* ---- forks ---- */

static __always_inline bool passed__is(struct task_struct *task)
{
	return wanted_groups && passed_since && task->pid && task->pid == task->tgid &&
	       !(task->flags & PF_KTHREAD_BIT) && task->start_time >= passed_since;
}

static __always_inline void passed__begin_as(struct task_struct *child, struct qz_cpu_state *cpu)
{
	__sync_fetch_and_add(&cpu->forks_passed, 1); /* a fork may be preempted by another one */
	single_gate__open_unknown(child);
}

/* Whether nothing is done about a new process. Where forks are passed, no scope follows its children. */
static __always_inline bool passed__begin(struct task_struct *child, struct qz_cpu_state *cpu)
{
	u64 spacing, now;

	if (!passed__is(child))
		return false;
	now = child->start_time; /* a moment ago: to read a clock would take longer than the rest */
	spacing = FORK_RARE << cpu->halvings;
	if ((s64)(now - cpu->fork_time) > 0) { /* else a fork was preempted by another one */
		cpu->fork_room += now - cpu->fork_time;
		cpu->fork_time = now;
	}
	if (cpu->fork_room > FORK_SAVED)
		cpu->fork_room = FORK_SAVED;
	if (cpu->fork_room < spacing) {
		passed__begin_as(child, cpu);
		return true;
	}
	/* by chance, lest a program that forks in turn from the same places is always seen at the same one */
	cpu->fork_room -= spacing / 2 + bpf_get_prandom_u32() % (u32)(spacing / 2);
	return false;
}

/* There is no scope left for it: that of its group will do, unless it lives for long. */
static __always_inline int passed__begin_without(struct task_struct *child,
						 struct qz_cpu_state *cpu)
{
	if (passed__is(child))
		passed__begin_as(child, cpu);
	else
		scope__refuse(1);
	return 0;
}

/* ---- following ---- */

static __always_inline bool task__is_named_as(struct task_struct *a, struct task_struct *b)
{
	const u64 *name = (const u64 *)a->comm, *other = (const u64 *)b->comm;

	return name[0] == other[0] && name[1] == other[1];
}

/*
 * Whether the process has the code that its parent has now: neither has executed anything since the fork. Where it has
 * given its memory back already, to end, equal names have to do.
 */
static __always_inline bool passed__has_parents_code(struct task_struct *task,
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

/* Its scope, as if its fork had been looked at. */
static __always_inline void passed__enter(struct qz_scope_state *s, struct task_struct *task,
					  u64 now)
{
	struct task_struct *parent = task->real_parent;
	struct qz_thread_state *p = parent ? thread__find(parent) : NULL;

	if (p && passed__has_parents_code(task, parent)) {
		group__begin(s, parent, p, now);
		return;
	}
	group__begin(s, task, NULL, now);
	s->unreported = QZ_IMAGE_EXEC;
}

/* As thread__follow, of a thread whose times are those of the kernel's accounts from its start on. */
static __always_inline bool passed__store(struct task_struct *task, struct qz_scope_state *s,
					  u32 scope, u32 image, u32 how)
{
	struct qz_thread_state *fresh = bpf_map_lookup_elem(&fresh_threads, &how), *t;

	if (!fresh || bpf_task_storage_get(&threads, task, NULL, 0))
		return false;
	single_gate__close(task);
	thread__fill(fresh, task, scope, image, task->start_time, 0);
	fresh->state = QZ_SINGLE;
	fresh->waiting.flags = QZ_WAITING_CLOSED;
	wait_gate__begin(fresh, true);
	t = bpf_task_storage_get(&threads, task, fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* else the sampler was faster, or an iterator on another processor */
	if (!t || t->serial != fresh->serial)
		return false;
	__sync_fetch_and_add(&s->alive, 1);
	__sync_fetch_and_add(&s->counters.threads_seen, 1);
	return true;
}

/* From a context in which nobody else does so for the same entry of fresh_threads. False: it cannot, or is. */
static __noinline int passed__follow(struct task_struct *task, u32 how, u64 now)
{
	struct qz_control *ctl = control__get();
	struct qz_scope_state *s;
	u32 scope;

	if (!task || !ctl)
		return false;
	scope = scope__of_new_process(task, NULL, task->start_time);
	s = scope__get(scope);
	if (!s)
		return false;
	passed__enter(s, task, now);
	if (passed__store(task, s, scope, next_number(&ctl->next_image), how))
		return true;
	scope__give_back(scope, s);
	return false;
}

/* As passed__follow; the state that the thread has then, or NULL. */
static __always_inline struct qz_thread_state *passed__state(struct task_struct *task, u32 how,
							     u64 now)
{
	passed__follow(task, how, now);
	return thread__find(task);
}

/* Whether it maps memory and has its parent's code, whose addresses it may use again. */
static __always_inline bool passed__maps(struct task_struct *task)
{
	return passed__is(task) && task->flags & PF_FORKNOEXEC_BIT && !task__execs(task);
}

/* ---- quartzd's look at all threads ---- */

/*
 * The process that is being followed from another processor, where it may end at the same time. Who looks says so, and
 * then asks whether it is dead; who ends is dead, and then asks whether it is looked at. So one of them knows.
 */
volatile __u32 passed_looked_at;

/* quartzd's: when it began the last look at all, and how many there has been no scope for since. */
volatile __u64 passed_last_look;
volatile __u32 passed_left;

static __always_inline bool passed__is_dead(struct task_struct *task)
{
	return *(volatile u32 *)&task->__state & TASK_DEAD_BIT || task->exit_state;
}

/* It has ended before it could be seen to have a state: its group has what it did. */
static __always_inline void passed__forget(struct task_struct *task)
{
	struct qz_thread_state *t = thread__find(task);
	struct qz_scope_state *s = t ? scope__get(t->scope) : NULL;

	if (!s)
		return;
	t->state = QZ_DEAD;
	s->counters.threads_seen = 0;
	scope__give_back(t->scope, s);
}

/* It cannot be followed. What was to be a scope of its own by now is refused, once. */
static __always_inline void passed__leave(struct task_struct *task, u64 now)
{
	u64 grown = task->start_time + YOUTH;

	__sync_fetch_and_add(&passed_left, 1);
	if (grown <= now && grown > passed_last_look)
		scope__refuse(1);
}

/* Follows it, if it was passed and nobody else is being looked at. */
static __noinline int passed__look(struct task_struct *task, u64 now)
{
	bool followed = false;
	u32 pid;

	if (!task || !passed__is(task) || !single__is_alone(task))
		return 0;
	pid = task->pid;
	if (__sync_val_compare_and_swap(&passed_looked_at, 0, pid))
		return 0;
	if (!passed__is_dead(task)) {
		followed = passed__follow(task, FRESH_LOOKED_AT, now);
		if (!followed && !thread__find(task))
			passed__leave(task, now);
	}
	if (__sync_val_compare_and_swap(&passed_looked_at, pid, 0) != pid && followed)
		passed__forget(task);
	return 0;
}

/* ---- ending ---- */

/* Who has ended is known until it is freed, in case that its last switch went unseen. By number, as single_gates. */
__u16 passed_ended[1 << GATE_BITS];

static __always_inline volatile u16 *passed__end_mark(const struct task_struct *task)
{
	return &passed_ended[single_gate__index(task)];
}

static __always_inline u16 passed__mark(const struct task_struct *task)
{
	return (u32)task->pid >> GATE_BITS << 1 | 1;
}

/* The image of the nearest ancestor that is followed, if it is in the same unit: its group is named by that. */
static __always_inline u32 passed__origin(struct task_struct *task)
{
	struct task_struct *parent = task;

	for (int i = 0; i < PASSED_ANCESTORS; i++) {
		struct qz_thread_state *p;

		parent = parent->real_parent;
		if (!parent)
			return 0;
		p = thread__find(parent);
		if (p)
			return group__unit(parent) == group__unit(task) ? p->image : 0;
	}
	return 0;
}

/* Its group gets what they did. */
__noinline int passed__fold(const struct qz_passed_sum *sum)
{
	u64 ns[QZ_THREAD_STATES] = {};
	struct qz_scope_state *to;
	u64 life, ran, ready;

	if (!sum || !sum->processes)
		return 0;
	to = scope__get(sum->group);
	if (!to || to->serial != sum->serial) {
		scope__refuse(sum->processes);
		return 0;
	}
	life = sum->life_ns;
	ran = kernel_account__news(sum->cpu_ns, 0, life);
	ready = kernel_account__news(sum->delay_ns, 0, life - ran);
	ns[QZ_RUNNING] = ran;
	ns[QZ_READY] = ready;
	ns[QZ_BLOCKED] = life - ran - ready;
	group__add_threads(to, ns, sum->cpu_ns, sum->processes);
	level__add(sum->group, 1, ran);
	level__add(sum->group, 0, life - ran);
	return group__add_passed(sum->group, to->serial, life - ran - ready, ready);
}

static __always_inline void passed__set_group(struct qz_passed_sum *sum, u32 group)
{
	struct qz_scope_state *s = scope__get(group);

	sum->group = group;
	sum->serial = s ? s->serial : 0;
}

static __always_inline void passed__add(struct qz_passed_sum *sum, struct task_struct *task,
					u64 now)
{
	s64 life = now - task->start_time;

	sum->processes++;
	sum->life_ns += life > 0 ? life : 0;
	sum->cpu_ns += task->se.sum_exec_runtime;
	sum->delay_ns += kernel_account__delay(task);
}

/* What stands in the sum of a processor goes to where it belongs. By itself, with interrupts disabled. */
static __noinline int passed__flush(struct qz_cpu_state *cpu)
{
	if (!cpu)
		return 0;
	passed__fold(&cpu->passed);
	cpu->passed.processes = 0;
	cpu->passed.life_ns = 0;
	cpu->passed.cpu_ns = 0;
	cpu->passed.delay_ns = 0;
	return 0;
}

static __always_inline bool passed__is_of(const struct qz_passed_sum *sum,
					  const struct qz_group_key *key)
{
	const u64 *a = (const u64 *)&sum->key, *b = (const u64 *)key;

	return sum->processes && a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/*
 * The running process, a leader, ends. A helper for its unit costs less than reading what it reads; for its name it is the
 * other way round. Where it is from is of interest to a new group alone.
 */
static __always_inline void passed__collect(struct task_struct *task, struct qz_cpu_state *cpu,
					    u64 now)
{
	const u64 *comm = (const u64 *)task->comm; /* the kernel fills it up with zeros */
	struct qz_group_key key = {};
	u64 *name = (u64 *)key.comm;
	u32 *scope;

	key.cgroup = bpf_get_current_cgroup_id();
	name[0] = comm[0];
	name[1] = comm[1];
	if (!passed__is_of(&cpu->passed, &key)) {
		passed__flush(cpu);
		scope = bpf_map_lookup_elem(&groups, &key);
		passed__set_group(&cpu->passed, scope ? *scope
						      : group__new(group__leader(task), &key,
								   passed__origin(task), now));
		cpu->passed.key = key;
	}
	passed__add(&cpu->passed, task, now);
}

/* By quartzd, before it reads what groups have. */
SEC("raw_tp")
int flush_passed(void *ctx)
{
	passed__flush(cpu__this());
	return 0;
}

/* At the last switch of a thread without a state. False: it has one now. A function, for the stack of on_switch. */
static __noinline bool passed__end(struct task_struct *task, u64 now)
{
	struct qz_cpu_state *cpu = cpu__this();
	u32 pid = task->pid;

	if (!cpu || !passed__is(task))
		return true;
	if (passed_looked_at == pid &&
	    __sync_val_compare_and_swap(&passed_looked_at, pid, 0) != pid)
		return false;
	passed__collect(task, cpu, now);
	if (frozen) /* quartzd may have had all sums before */
		passed__flush(cpu);
	*passed__end_mark(task) = passed__mark(task);
	return true;
}

/*
 * It is freed, and its end was not seen. Where another process has the mark, this one is taken to have ended at a switch
 * that was seen. So is one that something is stored at: it may have a state that cannot be had. Before Linux 6.2 none can
 * be had while the processor is at that of another task, and tasks are freed in an interrupt.
 */
static __always_inline void passed__free(struct task_struct *task, u64 now)
{
	struct qz_passed_sum sum = {};

	if (!passed__is(task) || *passed__end_mark(task) || task->bpf_storage)
		return;
	passed__set_group(&sum, group__find(group__leader(task), passed__origin(task), now));
	passed__add(&sum, task, now);
	passed__fold(&sum);
}

/* Whether it was passed, and ended at a switch that was seen. Nothing but its number is looked at: it is not in the cache. */
static __always_inline bool passed__has_ended(struct task_struct *task)
{
	volatile u16 *mark = passed__end_mark(task);

	if (!wanted_groups || *mark != passed__mark(task))
		return false;
	*mark = 0;
	return true;
}

#endif
