/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accounting at context switches and wake-ups. Flat in the number of processors and threads: a
 * switch between two threads of one scope changes no shared word, one that concerns no scope costs
 * two pointer comparisons.
 */
#ifndef QUARTZ_SWITCH_BPF_H
#define QUARTZ_SWITCH_BPF_H

/*
 * Final accounting at thread exit. The scope's totals come first, so that they are right even if the ring buffer
 * has no room for the thread's record.
 */
static __noinline int thread__end(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	struct qz_scope_state *s;

	if (!task || !t)
		return 0;
	s = scope__get(t->scope);
	if (thread__is_single(t))
		single__leave_as(task, t, QZ_DEAD, now, 0);
	else
		thread__enter(t, QZ_DEAD, now);
	if (!s || group__end(task, t, s, now))
		return 0;
	group__leave(task, t, now);
	for (int i = 0; i < QZ_THREAD_STATES; i++)
		__sync_fetch_and_add(&s->ended_ns[i], t->ns[i]);
	t->cpu_in = task->se.sum_exec_runtime;
	__sync_fetch_and_add(&s->ended_cpu, t->cpu_in - t->cpu_base);
	wait_account__end(t, now, now);
	if (wanted_what_if)
		critical_path__end(task, t, now);
	if (event__thread(task, t, false, now))
		wait_account__flush_all(t);
	for (int i = 0; i < QZ_SITES; i++)
		object__refer(t->waiting.sites[i].object, -1);
	if (__sync_fetch_and_add(&s->alive, -1ull) == 1) {
		s->ended = now;
		event__scope_end(t->scope, now);
	}
	return 0;
}

/*
 * Times stand still and quartzd is about to read the threads: one that ends before it was read is
 * told about as it stood.
 */
static __noinline int thread__end_frozen(struct task_struct *task, struct qz_thread_state *t)
{
	if (!task)
		return 0;
	if (!t && !passed__end(task, read_until))
		t = thread__get(task);
	if (!t || t->state == QZ_DEAD)
		return 0;
	if (thread__is_single(t))
		single__leave_as(task, t, QZ_BLOCKED, read_until, 0);
	event__thread(task, t, thread__left_unseen(t), bpf_ktime_get_ns());
	t->state = QZ_DEAD;
	return 0;
}

/* Whether this switch is the last one of prev. */
static __always_inline bool task__ends(struct task_struct *prev, bool preempt)
{
	return !preempt && prev->__state & TASK_DEAD_BIT;
}

/* prev goes out as the mark said, or came in unseen before. Whether its wait is looked at. */
static __always_inline bool switch__out(struct task_struct *prev, struct qz_thread_state *t,
					struct qz_cpu_state *cpu, bool preempt, bool expected,
					u64 now)
{
	u32 state = prev->__state;

	if (!expected) {
		u64 came = now - task__run_ns(prev);

		__sync_fetch_and_add(&cpu->gaps, 1);
		if (t->state == QZ_RUNNING)
			thread__settle_gap(prev, t, now);
		if ((s64)(came - t->since) > 0)
			thread__come(prev, t, came);
		else
			wait_account__end(t, came, came);
	}
	/*
	 * A preempted thread stays on its runqueue whatever its state; and until it is switched out
	 * nobody can wake it, so the state read here is the one that decided.
	 */
	t->cpu_in = prev->se.sum_exec_runtime;
	if (task__ends(prev, preempt)) {
		thread__end(prev, t, now);
		return false;
	}
	thread__enter(t, !preempt && state ? QZ_BLOCKED : QZ_READY, now);
	thread__note_delay(prev, t);
	return !wait_gate__passes(t, preempt ? 0 : state);
}

static __always_inline void switch__begin_wait(struct task_struct *prev, struct qz_thread_state *t,
					       struct qz_cpu_state *cpu, bool preempt, u64 now)
{
	u32 state = preempt ? 0 : prev->__state;

	wait_stack__begin(prev, t, cpu, state, now);
	if (thread__is_single(t))
		single__begin_wait(prev, t, state);
}

/* For who reads the slot of the running thread from another processor. */
static __always_inline void cpu__publish(struct qz_cpu_state *cpu, const struct qz_thread_state *t)
{
	*(volatile u32 *)&cpu->slot = 0;
	cpu->serial = t->serial;
	cpu->image = t->image;
	cpu->page = t->page;
	*(volatile u32 *)&cpu->slot = t->slot;
}

static __always_inline void switch__in(struct task_struct *next, struct qz_thread_state *t,
				       struct qz_cpu_state *cpu, u64 now)
{
	if (t->state == QZ_RUNNING)
		thread__settle_gap(next, t, now);
	thread__come(next, t, now);
	t->cpu = bpf_get_smp_processor_id();
	t->cpu_in = next->se.sum_exec_runtime;
	/* no one else's claim can be lost by a plain store: it was for a run that is over */
	cpu->mark += 2;
	cpu__publish(cpu, t);
	*(volatile u64 *)&cpu->run = cpu->mark;
	t->run = cpu->mark;
}

/* The longest that the kernel's account of a running thread is behind: a tick, at CONFIG_HZ=100. */
#define TICK 10000000

/*
 * A thread that is left to the kernel runs here, and is about to get company, or a window begins: it is counted at
 * switches from now on. How long it has been running is known when it goes out.
 */
static __noinline int switch__count(struct task_struct *task, struct qz_thread_state *t, u64 now)
{
	struct qz_cpu_state *cpu = cpu__this();
	bool skipped = t && t->skipped;
	struct qz_scope_state *s;
	u32 open;

	if (!task || !t || !cpu)
		return 0;
	open = single__leave_as(task, t, QZ_BLOCKED, now, TICK);
	s = scope__get(t->scope);
	if (s)
		group__release(s);
	switch__in(task, t, cpu, now);
	t->waiting.nominal = open;
	cpu->open = skipped ? QZ_OPEN_THREAD : QZ_OPEN;
	cpu->task = (u64)task;
	cpu->scope = t->scope;
	scope__change_running(t->scope, 1, now);
	return 0;
}

/* It goes out: what was left open was time running as far as the kernel counted more than was counted here since. */
static __noinline int switch__settle_open(struct task_struct *task, struct qz_thread_state *t,
					  u32 what, u64 now)
{
	u64 open, ran;

	if (!task || !t)
		return 0;
	open = t->waiting.nominal;
	ran = task->se.sum_exec_runtime - t->cpu_in;
	ran = kernel_account__news(ran, now - t->since, open);
	t->waiting.nominal = 0;
	t->ns[QZ_RUNNING] += ran;
	t->ns[QZ_BLOCKED] += open - ran;
	if (what == QZ_OPEN_THREAD)
		return 0;
	level__add(t->scope, 1, ran);
	level__add(t->scope, 0, open - ran);
	return 0;
}

/* The thread that left unseen is taken out of its scope, unless another processor was faster. */
static __noinline int cpu__settle_gap(struct qz_cpu_state *cpu, u32 leaves, u64 now)
{
	if (!cpu)
		return 0;
	cpu->open = QZ_OPEN_NOT;
	if (leaves == QZ_NO_SCOPE || !cpu__end_run(cpu, cpu->mark))
		return 0;
	scope__change_running(leaves, -1, now);
	__sync_fetch_and_add(&cpu->gaps, 1);
	return 0;
}

/* The processor became idle unseen, or busy: it is now, or is about to change back. */
static __noinline int cpu__settle_idle(struct qz_cpu_state *cpu, bool idle, u64 now)
{
	u64 when;

	if (!cpu)
		return 0;
	when = idle ? idle__began_unseen(cpu, now) : idle__ended_unseen(cpu, now);
	if (idle) {
		cpu__settle_gap(cpu, cpu->scope, when);
		cpu->scope = QZ_NO_SCOPE;
	}
	idle__account(cpu, idle, when);
	if (every_process)
		machine__count(cpu, idle, when);
	return 0;
}

/*
 * The processor runs a task that was not seen coming in: both it and the one that it replaced are
 * settled as of now. From interrupt context on that processor only, where no switch is half done.
 * Bounds what an unseen switch can falsify to one period of the sampler.
 */
static __noinline int cpu__settle_unseen(struct qz_cpu_state *cpu, struct task_struct *task,
					 u64 now)
{
	struct qz_thread_state *t;
	u64 came;

	if (!cpu || !task)
		return 0;
	came = now - task__run_ns(task);
	if (!task->pid != !!cpu->idle_since)
		cpu__settle_idle(cpu, !task->pid, now);
	cpu__settle_gap(cpu, cpu->scope, now);
	cpu->task = (u64)task;
	cpu->scope = QZ_NO_SCOPE;
	if (every_process)
		machine__count(cpu, !task->pid, now);
	t = thread__get(task);
	if (!t || t->state == QZ_DEAD || thread__is_single(t))
		return 0;
	__sync_fetch_and_add(&cpu->gaps, 1);
	if ((s64)(came - t->since) < 0)
		came = t->since;
	switch__in(task, t, cpu, came);
	t->cpu_in = task->se.prev_sum_exec_runtime;
	cpu->scope = t->scope;
	scope__change_running(t->scope, 1, now);
	return 0;
}

/*
 * The thread on whose account the processor ran goes, or one that was not seen coming in. What the
 * scope of the mark is afterwards is left in the mark: the verifier then knows the same in every
 * case, and follows what comes after it once. Gives what switch__out does.
 */
static __always_inline bool switch__leave(struct task_struct *prev, struct qz_thread_state *out,
					  struct qz_cpu_state *cpu, bool preempt, bool expected,
					  u64 now)
{
	if (!expected) {
		cpu__settle_gap(cpu, cpu->scope, now);
		*(volatile u32 *)&cpu->scope = QZ_NO_SCOPE;
	}
	if (cpu->open) { /* of the thread that was expected, then */
		u32 what = cpu->open;

		cpu->open = QZ_OPEN_NOT;
		if (out)
			switch__settle_open(prev, out, what, now);
	}
	return out && switch__out(prev, out, cpu, preempt, expected, now);
}

/* The time, read when it is first needed. */
static __always_inline u64 switch__time(u64 now)
{
	return now ? now : bpf_ktime_get_ns();
}

/* The processor becomes idle, or busy: `task` goes, or comes. Gives when. */
static __noinline u64 switch__idle(struct qz_cpu_state *cpu, struct task_struct *task, bool comes)
{
	u64 now = bpf_ktime_get_ns();

	if (!cpu || !task)
		return now;
	idle__compare_clock(cpu, task, now);
	/* it came or went before, unseen */
	if (!!cpu->idle_since == comes) {
		if (cpu->counted)
			cpu->gaps++;
		cpu__settle_idle(cpu, !comes, now);
	}
	idle__account(cpu, comes, now);
	if (every_process)
		machine__count(cpu, comes, now);
	return now;
}

/* Switches inside one scope change nothing that processors share. */
static __always_inline void switch__change_scope(struct qz_cpu_state *cpu, u32 leaves, u32 comes,
						 u64 now)
{
	if (leaves == comes)
		return;
	cpu->scope = comes;
	if (leaves != QZ_NO_SCOPE)
		scope__change_running(leaves, -1, now);
	if (comes != QZ_NO_SCOPE)
		scope__change_running(comes, 1, now);
}

/* Whether anything is to be done about the thread that leaves. While switches are skipped, if it was counted. */
static __always_inline bool switch__needs_prev(const struct qz_cpu_state *cpu, enum gate gate)
{
	return gate == GATE_SKIPS ? cpu->scope != QZ_NO_SCOPE : gate != GATE_PASSES;
}

/* next is looked up when prev is done with, for the same reason. */
static __always_inline void switch__account(struct qz_cpu_state *cpu, bool preempt,
					    struct task_struct *prev, struct task_struct *next,
					    enum gate gate)
{
	bool expected = cpu->task == (u64)prev, looks = false, single;
	struct qz_thread_state *out = switch__needs_prev(cpu, gate) ? thread__get(prev) : NULL, *in;
	u32 comes = QZ_NO_SCOPE;
	u64 now = 0;

	if (!out && task__ends(prev, preempt) && !passed__end(prev, bpf_ktime_get_ns()))
		out = thread__get(prev);
	single = out && thread__is_single(out);
	cpu->task = (u64)next;
	cpu->switches++;
	if (!prev->pid || !next->pid)
		now = switch__idle(cpu, next->pid ? next : prev, !next->pid);
	if (single && gate != GATE_SKIPS)
		looks = single__switch_out(prev, out, preempt, gate == GATE_LOOKS);
	if ((out && !single) || cpu->scope != QZ_NO_SCOPE) {
		now = switch__time(now);
		looks |= switch__leave(prev, single ? NULL : out, cpu, preempt, expected, now);
	}
	if (skip__is_on(cpu) && out && !single) {
		skip__leave(prev, out, now);
	} else if (looks && out) {
		now = switch__time(now);
		group__notice(prev, out, now);
		switch__begin_wait(prev, out, cpu, preempt, now);
	}
	in = single_gate__get(next) ? NULL : thread__get(next);
	if (in)
		now = switch__time(now);
	if (in && thread__is_single(in) && in->skipped && !skip__is_on(cpu))
		skip__return(next, in, now);
	if (in && thread__is_single(in)) {
		single__switch_in(next, in);
	} else if (in && !(skip__is_on(cpu) && skip__come(next, in, now))) {
		if (wanted_what_if)
			critical_path__came(prev, out, next, in, now);
		switch__in(next, in, cpu, now);
		comes = in->scope;
	}
	switch__change_scope(cpu, *(volatile u32 *)&cpu->scope, comes, now);
}

/* What the gate of prev says. */
static __always_inline enum gate switch__gate(struct task_struct *prev, bool preempt)
{
	u32 state;
	u16 entry;

	if (!prev->pid)
		return GATE_PASSES;
	entry = single_gate__get(prev);
	state = preempt ? 0 : prev->__state;
	if (!entry || state & TASK_DEAD_BIT)
		return GATE_CLOSED;
	return wait_gate__is_passed(single_gate__step(entry, !state)) ? GATE_PASSES : GATE_LOOKS;
}

/* Whether neither thread is counted, or looked at. */
static __always_inline bool switch__is_passed(const struct qz_cpu_state *cpu, enum gate gate,
					      struct task_struct *next)
{
	return gate == GATE_PASSES && cpu->scope == QZ_NO_SCOPE && !frozen &&
	       (!next->pid || single_gate__get(next));
}

/*
 * A thread ends at which nothing is stored, as that of a process whose fork was passed. False: it has a state by now, or
 * something is stored there.
 */
static __always_inline bool switch__end_without(const struct qz_cpu_state *cpu,
						struct task_struct *prev)
{
	return !prev->bpf_storage && passed__end(prev, idle__time(cpu, prev));
}

/*
 * Passes the switch, as almost all while switches are skipped: as few lines of memory as can be are touched, and whether
 * the processor was idle is what our own account says. Whether it could.
 */
static __always_inline bool switch__pass_skipped(struct qz_cpu_state *cpu, bool preempt,
						 struct task_struct *prev, struct task_struct *next)
{
	u64 began = self_cost__is_timed(cpu) ? bpf_ktime_get_ns() : 0;
	bool idles = !next->pid;

	if (cpu->scope != QZ_NO_SCOPE || !(idles || single_gate__is_skipped(next)))
		return false;
	if (!cpu->idle_since && task__ends(prev, preempt) && !switch__end_without(cpu, prev))
		return false;
	cpu->task = (u64)next;
	cpu->switches++;
	if (cpu->idle_since || idles)
		idle__account(cpu, idles, idle__time(cpu, idles ? prev : next));
	if (began)
		cpu->accounting_ns += bpf_ktime_get_ns() - began;
	return true;
}

/* Most switches of most servers are passed: that comes first, and is short, since it is seldom in the cache. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct qz_cpu_state *cpu = cpu__this();
	enum gate gate;

	if (!cpu)
		return 0;
	if (skip__is_on(cpu) && switch__pass_skipped(cpu, preempt, prev, next))
		return 0;
	self_cost__begin_short(cpu, QZ_TIMED_SWITCH);
	gate = skip__is_on(cpu) && !task__ends(prev, preempt) ? GATE_SKIPS
							      : switch__gate(prev, preempt);
	if (switch__is_passed(cpu, gate, next)) {
		cpu->task = (u64)next;
		if (!prev->pid || !next->pid)
			switch__idle(cpu, next->pid ? next : prev, !next->pid);
		self_cost__end_short(cpu, QZ_TIMED_SWITCH);
		cpu->switches++;
		return 0;
	}
	if (!frozen)
		switch__account(cpu, preempt, prev, next, gate);
	else if (task__ends(prev, preempt))
		thread__end_frozen(prev, thread__get(prev));
	self_cost__end(QZ_TIMED_SWITCH);
	return 0;
}

static __always_inline int handle_wakeup(struct task_struct *task)
{
	struct qz_thread_state *t = thread__get(task);
	u64 now;

	if (!t || t->state == QZ_READY || frozen)
		return 0;
	/* a thread that has not yet left its processor is woken without having slept */
	if (t->state == QZ_RUNNING && !thread__left_unseen(t))
		return 0;
	now = bpf_ktime_get_ns();
	if (t->state == QZ_RUNNING)
		thread__settle_gap(task, t, now);
	thread__enter(t, QZ_READY, now);
	object__leave_woken(t, now);
	return 0;
}

/*
 * Only where it is wanted, see wanted_wakeup. sched_wakeup comes after the sleeper's switch-out and before its switch-in
 * whatever the processors, so the order of events is the order of states.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	struct qz_cpu_state *cpu = cpu__this();

	if (!cpu)
		return 0;
	self_cost__begin_short(cpu, QZ_TIMED_WAKEUP);
	handle_wakeup(task);
	self_cost__end_short(cpu, QZ_TIMED_WAKEUP);
	return 0;
}

/* A thread that has never run: it left no queue, and no processor unseen. */
static __always_inline int handle_first_wakeup(struct task_struct *task)
{
	struct qz_thread_state *t = thread__get(task);

	if (t && !frozen && (t->state == QZ_BLOCKED || t->state == QZ_UNKNOWN))
		thread__enter(t, QZ_READY, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	self_cost__begin(QZ_TIMED_WAKEUP);
	handle_first_wakeup(task);
	self_cost__end(QZ_TIMED_WAKEUP);
	return 0;
}

#endif
