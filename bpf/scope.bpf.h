/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of scopes: each process that is reported to quartzd gets one. */
#ifndef QUARTZ_SCOPE_BPF_H
#define QUARTZ_SCOPE_BPF_H

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
	return scope;
}

/* A new process that could not be followed leaves its scope to another one. */
static __always_inline void scope__give_back(u32 scope, struct qz_scope_state *s)
{
	if (!every_process || scope < QZ_OWN_SCOPES || s->begun)
		return;
	__builtin_memset(s, 0, sizeof(*s));
	bpf_map_push_elem(&free_scopes, &scope, BPF_ANY);
}

#endif
