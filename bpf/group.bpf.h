/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that end within a second, having had one thread. What they did is not kept by process but by group: those
 * of a program in a unit. While such a process lives it is a scope as any other, which nobody knows: quartzd is told
 * of it when something is found out about it that has to be named, a sample or where it waits, and when it looks at
 * all threads. When it ends it is young or grown. A young one's figures are added to those of its group here, and
 * its scope is another process's at once; if quartzd was told, it gives the scope back itself. A process is grown when
 * it has lived for a second, has a second thread, or quartzd has looked at it.
 *
 * youth of its scope leaves QZ_YOUNG by exchange: whoever succeeds decides.
 */
#ifndef QUARTZ_GROUP_BPF_H
#define QUARTZ_GROUP_BPF_H

#define YOUTH 1000000000ull /* ns */

/* A forked process has its parent's code at its parent's addresses. */
static __always_inline void image__inherit(u32 child, u32 parent)
{
	struct qz_unwind_image *tables = bpf_map_lookup_elem(&unwind_images, &parent);

	if (tables && !image__is_remapped(parent, tables))
		bpf_map_update_elem(&unwind_images, &child, tables, BPF_ANY);
}

/* ---- growing up ---- */

/* False: it has ended, and its group has what it did. */
static __always_inline bool group__release(struct qz_scope_state *s)
{
	return s->youth == QZ_GROWN ||
	       __sync_val_compare_and_swap(&s->youth, QZ_YOUNG, QZ_GROWN) != QZ_FOLDED;
}

/* A thread that is alone is its process's first one; or the one that tells is not alone, and nothing is told. */
static __always_inline u64 group__leader(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, group_leader);
}

/*
 * Tells of the image of the thread's process, if that was not done. A global function, as others that follow: the
 * verifier follows them once. They take the address of a task, since before Linux 6.8 they cannot take a pointer to one.
 */
__noinline int group__report(u64 address, struct qz_thread_state *t, u64 now)
{
	struct task_struct *task = (struct task_struct *)address;
	struct qz_process_event *e;
	struct qz_scope_state *s;
	u32 cause;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	if (!s)
		return 0;
	cause = s->unreported;
	if (!cause || __sync_val_compare_and_swap(&s->unreported, cause, 0) != cause)
		return 0;
	if (cause == QZ_IMAGE_FORK && s->origin)
		image__inherit(t->image, s->origin);
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		event__lost();
		return 0;
	}
	__builtin_memset(e, 0, sizeof(*e));
	event__fill_process(e, task, t, cause, now);
	e->parent = s->origin;
	e->leader = t->serial;
	bpf_ringbuf_submit(e, event__flags());
	return 0;
}

/* Something has been found out about the thread that quartzd has to know the process for. */
static __always_inline void group__notice(struct task_struct *task, struct qz_thread_state *t,
					  u64 now)
{
	struct qz_scope_state *s = scope__get(t->scope);

	if (s && s->unreported)
		group__report(group__leader(task), t, now);
}

/* The process is a scope of its own from now on, and is told. False: it has ended. */
static __always_inline bool group__leave(struct task_struct *task, struct qz_thread_state *t,
					 u64 now)
{
	struct qz_scope_state *s = scope__get(t->scope);

	if (!s || !group__release(s))
		return false;
	if (s->unreported)
		group__report(group__leader(task), t, now);
	return true;
}

static __always_inline bool group__wants(struct task_struct *task, u32 scope)
{
	return wanted_groups && single__wants(task, scope);
}

/*
 * The scope of a process that is being forked, before its thread is seen by others. An NMI must not find the tables
 * of a parent, so that where the sampler is one they are found now.
 */
static __always_inline void group__begin(struct qz_scope_state *s, struct task_struct *parent,
					 struct qz_thread_state *creator, u64 now)
{
	struct qz_scope_state *from = creator ? scope__get(creator->scope) : NULL;

	if (from && from->unreported == QZ_IMAGE_EXEC)
		group__report(group__leader(parent), creator, now);
	s->origin = creator ? creator->image : 0;
	if (from && from->unreported == QZ_IMAGE_FORK)
		s->origin = from->origin;
	s->unreported = sampled_by_timer ? QZ_IMAGE_FORK : 0;
	*(volatile u32 *)&s->youth = QZ_YOUNG;
}

static __always_inline bool task__execs(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve);
}

/*
 * A forked process that maps memory may use addresses of its parent's code again. One that executes something has an
 * image of its own soon.
 */
static __always_inline void group__map(struct task_struct *task, struct qz_thread_state *t)
{
	struct qz_scope_state *s = scope__get(t->scope);

	if (!s || s->unreported != QZ_IMAGE_FORK || task__execs(task))
		return;
	group__report(group__leader(task), t, bpf_ktime_get_ns());
}

/* ---- groups ---- */

static __always_inline u64 group__unit(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

static __always_inline bool group__report_new(struct task_struct *task,
					      const struct qz_group_key *key, u32 scope, u32 serial,
					      u32 origin, u64 now)
{
	struct qz_group_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e)
		return false;
	event__begin(&e->event, QZ_EVENT_GROUP, sizeof(*e), now);
	e->scope = scope;
	e->serial = serial;
	e->relative = group__unit(BPF_CORE_READ(task, real_parent)) == key->cgroup ? origin : 0;
	e->pad = 0;
	e->key = *key;
	bpf_ringbuf_submit(e, event__flags());
	return true;
}

/*
 * A group nobody has heard of is of no use. The key is copied, since older kernels (6.1) let no map
 * take one that an argument of a global function points to.
 */
__noinline u32 group__new(u64 address, const struct qz_group_key *wanted, u32 origin, u64 now)
{
	struct task_struct *task = (struct task_struct *)address;
	struct qz_control *ctl = control__get();
	struct qz_group_key key;
	struct qz_scope_state *s;
	u32 scope, *there;

	if (!wanted || !ctl)
		return QZ_NO_SCOPE;
	if (bpf_map_pop_elem(&free_scopes, &scope) && bpf_map_pop_elem(&spare_scopes, &scope))
		return QZ_NO_SCOPE;
	key = *wanted;
	s = scope__get(scope);
	if (!s)
		return QZ_NO_SCOPE;
	s->began = now;
	s->youth = QZ_GROUP;
	s->serial = next_number(&ctl->next_serial);
	if (!bpf_map_update_elem(&groups, &key, &scope, BPF_NOEXIST)) {
		if (group__report_new(task, &key, scope, s->serial, origin, now))
			return scope;
		bpf_map_delete_elem(&groups, &key);
	}
	/* another one was faster, or there is no room */
	__builtin_memset(s, 0, sizeof(*s));
	bpf_map_push_elem(&free_scopes, &scope, BPF_ANY);
	there = bpf_map_lookup_elem(&groups, &key);
	return there ? *there : QZ_NO_SCOPE;
}

__noinline u32 group__find(u64 address, u32 origin, u64 now)
{
	struct task_struct *task = (struct task_struct *)address;
	struct qz_group_key key = {};
	u32 *scope;

	key.cgroup = group__unit(task);
	bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), task->comm);
	scope = bpf_map_lookup_elem(&groups, &key);
	return scope ? *scope : group__new(address, &key, origin, now);
}

/* ---- the end of a young process ---- */

static __always_inline void group__add(u64 *to, u64 n)
{
	if (n)
		__sync_fetch_and_add(to, n);
}

static __always_inline void group__move_level(u32 from, u32 to, u32 level)
{
	u32 key = from * level_stride + level;
	u64 *ns = bpf_map_lookup_elem(&levels, &key);

	if (!ns)
		return;
	level__add(to, level, *ns);
	*ns = 0;
}

/* What n ended threads did: ns in each state, and the processor time that the kernel counted. */
static __always_inline void group__add_threads(struct qz_scope_state *to, const u64 *ns, u64 cpu,
					       u64 n)
{
	for (int i = 0; i < QZ_THREAD_STATES; i++)
		group__add(&to->ended_ns[i], ns[i]);
	group__add(&to->ended_cpu, cpu);
	group__add(&to->counters.threads_seen, n);
}

static __always_inline void group__add_figures(struct qz_scope_state *to,
					       struct qz_scope_state *from,
					       const struct qz_thread_state *t)
{
	group__add_threads(to, t->ns, t->cpu_in - t->cpu_base, 1);
	group__add(&to->waits_lost, from->waits_lost);
	group__add(&to->lost_blocked_ns, from->lost_blocked_ns);
	group__add(&to->lost_ready_ns, from->lost_ready_ns);
	group__add(&to->wakings_lost, from->wakings_lost);
	group__add(&to->counters.limited, from->counters.limited);
}

/* Time of waits that nobody looked at. `serial`: the group's. */
__noinline int group__add_passed(u32 group, u32 serial, u64 blocked, u64 ready)
{
	struct waits_figures add = {
		.key = QZ_WAIT_KEY(QZ_WAIT_PASSED, 0, serial),
		.scope = group,
		.blocked_ns = blocked,
		.ready_ns = ready,
	};

	if (blocked | ready && wait_account__add_row(&add) <= WAITS_FULL)
		wait_account__lose(group, 0, blocked, ready);
	return 0;
}

/* Its waits are the group's. What they were for is not: objects are of a scope. */
__noinline int group__move_waits(struct qz_thread_state *t, u32 group)
{
	struct qz_scope_state *s, *to;
	struct uncharged passed;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	to = scope__get(group);
	if (!s || !to)
		return 0;
	passed = wait_account__passed(t, s);
	t->scope = group;
	t->serial = to->serial;
	for (int i = 0; i < QZ_SITES; i++) {
		struct qz_wait_site *site = wait_account__at(t, i);

		object__refer(site->object, -1);
		site->object = 0;
		wait_account__flush(t, i);
	}
	return group__add_passed(group, to->serial, passed.blocked, passed.ready);
}

/* Who was told of the process gives its scope back. */
__noinline int group__end_scope(u32 scope, u32 group, u64 now)
{
	struct qz_scope_state *s = scope__get(scope);

	if (!s)
		return 0;
	if (!s->unreported) {
		s->group = group;
		s->alive = 0;
		s->ended = now;
		event__scope_end(scope, now);
		return 0;
	}
	__builtin_memset(s, 0, sizeof(*s));
	bpf_map_push_elem(&free_scopes, &scope, BPF_ANY);
	return 0;
}

/* Gives the figures of the thread and of its scope to its group, if that is where they belong. */
__noinline int group__take(u64 address, struct qz_thread_state *t, u64 now)
{
	struct task_struct *task = (struct task_struct *)address;
	struct qz_scope_state *s, *to;
	u32 scope, group;

	if (!t)
		return false;
	scope = t->scope;
	s = scope__get(scope);
	if (!s || s->youth != QZ_YOUNG || now - s->began >= YOUTH)
		return false;
	group = group__find(address, s->origin, now);
	to = scope__get(group);
	if (!to || __sync_val_compare_and_swap(&s->youth, QZ_YOUNG, QZ_FOLDED) != QZ_YOUNG)
		return false;
	t->cpu_in = BPF_CORE_READ(task, se.sum_exec_runtime);
	group__add_figures(to, s, t);
	group__move_level(scope, group, 0);
	group__move_level(scope, group, 1);
	s->group = group;
	return true;
}

/*
 * The thread, alone in its process, has just been accounted for the last time. Whether its group has all of it now. In
 * the frame of who calls it: a program has at most 8 functions on its stack.
 */
static __always_inline bool group__end(struct task_struct *task, struct qz_thread_state *t,
				       struct qz_scope_state *s, u64 now)
{
	u32 scope = t->scope, group;

	if (s->youth != QZ_YOUNG || !group__take(group__leader(task), t, now))
		return false;
	group = s->group;
	wait_account__end(t, now, now);
	group__move_waits(t, group);
	group__end_scope(scope, group, now);
	return true;
}

#endif
