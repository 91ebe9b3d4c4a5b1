/* SPDX-License-Identifier: GPL-2.0-only */
/* Effective and nominal parallelism of a scope, and the exact time at each level. */
#ifndef QUARTZ_SCOPE_BPF_H
#define QUARTZ_SCOPE_BPF_H

static __always_inline void level__add(u32 scope, u64 level, u64 ns)
{
	u32 last = level_stride - 1;
	u32 key = scope * level_stride + (level < last ? (u32)level : last);
	u64 *total = bpf_map_lookup_elem(&levels, &key);

	if (total)
		__sync_fetch_and_add(total, ns);
}

/* One attempt; whether it succeeded. */
__noinline int level__try(u32 scope, int delta, u64 now)
{
	struct qz_scope_state *s = scope__get(scope);
	u64 word, level, elapsed, new;

	if (!s)
		return true;
	now = skip__clock(now);
	word = *(volatile u64 *)&s->running;
	level = word & QZ_LEVEL_MASK;
	elapsed = (now - (word >> QZ_LEVEL_BITS)) & QZ_TIME_MASK;
	if (elapsed > QZ_TIME_MASK / 2)
		elapsed = 0;
	new = (word & ~QZ_LEVEL_MASK) + (elapsed << QZ_LEVEL_BITS);
	new |= (level + delta) & QZ_LEVEL_MASK;
	if (__sync_val_compare_and_swap(&s->running, word, new) != word)
		return false;
	level__add(scope, level, elapsed);
	return true;
}

/*
 * Changes the number of running threads by delta at time now, of one scope. The word that packs the number with
 * the time of its last change is exchanged atomically, so whoever succeeds owns the interval that
 * ended: intervals neither overlap nor leave gaps, and the levels add up to the elapsed time
 * exactly. A clock that is behind the last change (read before another processor's) counts as 0.
 * Global functions, so that the verifier follows one attempt, once, and not each from each state of a switch.
 */
__noinline int level__change(u32 scope, int delta, u64 now)
{
	for (int i = 0; i < CAS_TRIES; i++)
		if (level__try(scope, delta, now))
			break;
	return 0;
}

static __always_inline void scope__change_runnable(u32 scope, int delta, u64 now)
{
	struct qz_scope_state *s = scope__get(scope);

	if (s)
		__sync_fetch_and_add(&s->runnable, qz_nominal__packed_delta(delta, now));
}

/* As level__change, where the program has room for a call. */
__noinline int machine__change_running(int delta, u64 now)
{
	level__change(QZ_SCOPE_OF_MACHINE, delta, now);
	return 0;
}

/*
 * The machine's level is the number of busy processors. In a pid namespace those count that run a process
 * of it, which are those of all scopes.
 */
static __always_inline bool machine__is_namespace(void)
{
	return every_process && pid_namespace;
}

__noinline int scope__change_running(u32 scope, int delta, u64 now)
{
	level__change(scope, delta, now);
	if (machine__is_namespace())
		level__change(QZ_SCOPE_OF_MACHINE, delta, now);
	return 0;
}

/*
 * A processor has become busy or idle, or is seen to be for the first time. By itself only, so that
 * what it was counted as is its own.
 */
static __always_inline void machine__count(struct qz_cpu_state *cpu, bool idle, u64 now)
{
	u32 as = idle ? QZ_COUNTED_IDLE : QZ_COUNTED_BUSY, was;

	if (skip__is_on(cpu) || machine__is_namespace())
		return;
	was = cpu->counted;
	if (was == as)
		return;
	cpu->counted = as;
	if (!idle)
		machine__change_running(1, now);
	else if (was == QZ_COUNTED_BUSY)
		machine__change_running(-1, now);
}

static __always_inline u64 scope__level(const struct qz_scope_state *s)
{
	return *(volatile u64 *)&s->running & QZ_LEVEL_MASK;
}

#define QZ_NO_NUMBER 0xfffffffeu /* no scope, since as many as there may be are in use */

/* So many processes have no scope. */
static __always_inline void scope__refuse(u64 n)
{
	struct qz_control *ctl = control__get();

	if (ctl)
		__sync_fetch_and_add(&ctl->scopes_refused, n);
}

/* The scope of a new process, or QZ_NO_SCOPE when it is not to be followed, QZ_NO_NUMBER when it cannot be. */
static __always_inline u32 scope__of_new_process(struct task_struct *child,
						 struct qz_thread_state *parent, u64 now)
{
	struct qz_scope_state *s;
	u32 scope, number;

	if (parent) {
		s = scope__get(parent->scope);
		if (s && s->follows)
			return parent->scope;
	}
	if (!every_process)
		return QZ_NO_SCOPE;
	number = task__process_number(child);
	if (!number)
		return QZ_NO_SCOPE; /* the kernel's threads are in the initial namespace alone, too */
	if (child->flags & PF_KTHREAD_BIT)
		return QZ_SCOPE_OF_KERNEL;
	if (bpf_map_pop_elem(&free_scopes, &scope))
		return QZ_NO_NUMBER;
	s = scope__get(scope);
	if (!s)
		return QZ_NO_SCOPE;
	s->pid = number;
	s->began = now;
	s->running = skip__clock(now) << QZ_LEVEL_BITS;
	return scope;
}

/* A new process that could not be followed leaves its scope to another one. */
static __always_inline void scope__give_back(u32 scope, struct qz_scope_state *s)
{
	if (!every_process || scope < QZ_OWN_SCOPES || s->counters.threads_seen)
		return;
	__builtin_memset(s, 0, sizeof(*s));
	bpf_map_push_elem(&free_scopes, &scope, BPF_ANY);
}

#endif
