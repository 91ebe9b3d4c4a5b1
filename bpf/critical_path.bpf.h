/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread's path to where it is would have been without a candidate: see quartz/critical_path.h. Here is the
 * state of threads and what changes it; who calls this is in bpf/path_events.bpf.h, and where threads begin, switch
 * and end.
 */
#ifndef QUARTZ_CRITICAL_PATH_BPF_H
#define QUARTZ_CRITICAL_PATH_BPF_H

#include "quartz/critical_path.h"

const volatile bool wanted_what_if; /* the length of the run without candidates is wanted */

/*
 * Set by quartzd. With each generation it knows more of the candidates' code: what samples told before is of no
 * use any more.
 */
volatile __u32 path_candidates, path_generation;

#define PATH_PROBES 8

/* A thread that was ready for less than this did not wait for a processor, but was on its way to one. */
#define PATH_READY 20000ull /* ns */

struct thread_path {
	u64 settled; /* of its running time: that is part of what follows */
	u64 unknown; /* of that, before any candidate was known */
	u64 preempted; /* since then, by others than threads of the scope: it goes with what was to run */
	u64 place; /* hash of registers at the last event, where the segment began */
	u32 generation;
	u32 spins; /* samples that found it waiting in a loop, ever */
	/* samples of the segment, and of the thread */
	u32 samples, all;
	u32 in[QZ_CANDIDATES];
	u32 all_in[QZ_CANDIDATES];
	u64 work[QZ_CANDIDATES];
	u64 saving[QZ_PATHS];
};

/*
 * Key: a thread of a scope. Written by the processor that runs the thread, and by the one that wakes it. Made when the
 * thread is first followed, and only when it is wanted. Without memory the thread counts as one outside of the scope.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_path);
} paths SEC(".maps");

/* See struct qz_path_segment. Full: a segment has the share that its thread has in all. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_path_segment);
} path_segments SEC(".maps");

/* Key: scope number. Read by quartzd at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_path_scope);
} path_scopes SEC(".maps");

/* Key: image. Written by quartzd. The least recently used ones go when it is full: processes that have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_path_image);
} path_images SEC(".maps");

/* Key: number of an object. Value: its candidate + 1, else 0. Written by quartzd. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QZ_OBJECT_SLOTS + 1);
	__type(key, u32);
	__type(value, u32);
} path_objects SEC(".maps");

static __always_inline void critical_path__follow(struct task_struct *task)
{
	if (wanted_what_if)
		bpf_task_storage_get(&paths, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline struct thread_path *critical_path__get(struct task_struct *task)
{
	return wanted_what_if ? bpf_task_storage_get(&paths, task, NULL, 0) : NULL;
}

static __always_inline struct qz_path_scope *critical_path__scope(u32 scope)
{
	return bpf_map_lookup_elem(&path_scopes, &scope);
}

/*
 * The place of a thread that is in a system call, for all that run the same code: not where its stack is, but how
 * deep in it.
 */
static __always_inline u64 critical_path__place(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return mix(mix(arch__syscall_nr(regs), arch__sp(regs) - arch__thread_pointer(task)),
		   arch__ip(regs)) |
	       1;
}

/* ---- segments ---- */

static __always_inline struct qz_path_segment *critical_path__slot(u64 key, u32 i)
{
	u32 index = (first_slot(key) + i) & (QZ_PATH_SEGMENTS - 1);

	return bpf_map_lookup_elem(&path_segments, &index);
}

/* What is known of segments with this key: the number of the slot's probe, or PATH_PROBES. */
__noinline u32 critical_path__find(u64 key)
{
	for (u32 i = 0; i < PATH_PROBES; i++) {
		struct qz_path_segment *s = critical_path__slot(key, i);
		u64 taken = s ? *(volatile u64 *)&s->key : 0;

		if (taken == key)
			return i;
		if (!taken)
			break;
	}
	return PATH_PROBES;
}

__noinline u32 critical_path__add(u64 key)
{
	for (u32 i = 0; i < PATH_PROBES; i++) {
		struct qz_path_segment *s = critical_path__slot(key, i);
		u64 taken = s ? __sync_val_compare_and_swap(&s->key, 0, key) : 0;

		if (s && (!taken || taken == key))
			return i;
	}
	return PATH_PROBES;
}

/* Two processors that do so at a time lose some samples. */
__noinline int critical_path__learn(struct thread_path *p, u64 key)
{
	struct qz_path_segment *s;
	u32 halve, i;

	if (!p)
		return 0;
	i = critical_path__add(key);
	s = i < PATH_PROBES ? critical_path__slot(key, i) : NULL;
	halve = p->all + p->samples > QZ_PATH_MEMORY;
	p->all = (p->all >> halve) + p->samples;
	for (i = 0; i < QZ_CANDIDATES; i++)
		p->all_in[i] = (p->all_in[i] >> halve) + p->in[i];
	if (s) {
		if (s->generation != p->generation) {
			s->samples = 0;
			s->generation = p->generation;
			for (i = 0; i < QZ_CANDIDATES; i++)
				s->in[i] = 0;
		}
		halve = s->samples + p->samples > QZ_PATH_MEMORY;
		s->samples = (s->samples >> halve) + p->samples;
		for (i = 0; i < QZ_CANDIDATES; i++) {
			s->in[i] = (s->in[i] >> halve) + p->in[i];
			s->share[i] = qz_path__share(s->in[i], s->samples);
		}
	}
	p->samples = 0;
	for (i = 0; i < QZ_CANDIDATES; i++)
		p->in[i] = 0;
	return 0;
}

/* The candidate's share in what the thread ran since the last event. */
static __always_inline u32 critical_path__share(const struct thread_path *p,
						const struct qz_path_segment *s, u32 i)
{
	u32 known, learned = 0;

	if (s) {
		known = s->share[i];
		learned = s->samples;
		if (!p->samples)
			return known;
	} else {
		known = qz_path__share(p->all_in[i], p->all);
	}
	return qz_path__blend(p->in[i], p->samples, known, learned);
}

/* Those of an earlier generation did not know what they met. */
static __always_inline void critical_path__renew(struct thread_path *p)
{
	u32 now = path_generation;

	if (p->generation == now)
		return;
	p->generation = now;
	p->samples = 0;
	p->all = 0;
	for (u32 i = 0; i < QZ_CANDIDATES; i++)
		p->in[i] = p->all_in[i] = 0;
}

/* The thread has run up to a place, where another segment begins. */
__noinline int critical_path__settle(struct thread_path *p, u64 ran, u64 place)
{
	struct qz_path_segment *s = NULL;
	u32 n = path_candidates, found;
	u64 key, ns, preempted;

	if (!p)
		return 0;
	critical_path__renew(p);
	key = mix(p->place, place) | 1;
	ns = ran - p->settled;
	p->settled = ran;
	preempted = p->preempted;
	p->preempted = 0;
	p->place = place;
	if (!n || (s64)ns <= 0) {
		p->unknown += (s64)ns > 0 ? ns : 0;
		return 0;
	}
	found = critical_path__find(key);
	if (found < PATH_PROBES)
		s = critical_path__slot(key, found);
	if (s && (s->generation != p->generation || !s->samples))
		s = NULL;
	for (u32 i = 0; i < QZ_CANDIDATES; i++) {
		u64 part;
		u32 share;

		if (i >= n)
			break;
		share = critical_path__share(p, s, i);
		part = qz_path__part(ns, share);
		p->work[i] += part;
		if (preempted)
			part += qz_path__part(preempted, share);
		for (u32 k = 0; k < QZ_SPEEDS; k++)
			p->saving[k * QZ_CANDIDATES + i] += part >> k;
	}
	if (p->samples)
		critical_path__learn(p, key);
	return 0;
}

/* What a thread ran by now; of one that does not run, by then. */
static __always_inline u64 critical_path__ran(const struct qz_thread_state *t, u64 now)
{
	u64 ran = t->ns[QZ_RUNNING];

	if (t->state == QZ_RUNNING && (s64)(now - t->since) > 0)
		ran += now - t->since;
	return ran;
}

/* ---- dependencies ---- */

/* The thread was held up until the other one came. object: the candidate that it waited for, + 1; 0: it waited for none. */
__noinline int critical_path__release(struct thread_path *p, const struct thread_path *other,
				      u64 held, u32 object)
{
	u32 n = path_candidates;

	if (!p || !other)
		return 0;
	for (u32 i = 0; i < QZ_CANDIDATES; i++) {
		if (i >= n)
			break;
		for (u32 k = 0; k < QZ_SPEEDS; k++) {
			u32 at = k * QZ_CANDIDATES + i;
			u64 own = p->saving[at];
			u64 saving = qz_path__released(own, held, other->saving[at]);

			if (object == i + 1)
				saving = qz_path__unheld(own, held, saving, k);
			p->saving[at] = saving;
		}
	}
	return 0;
}

/*
 * The thread was held up because the other one had the processor. The other one's segment has not ended: of what it
 * ran so far, each candidate is taken to have the share that it has in all of that thread.
 */
__noinline int critical_path__hand_over(struct thread_path *p, const struct thread_path *other,
					u64 held, u64 unsettled)
{
	u32 n = path_candidates, samples, in;

	if (!p || !other)
		return 0;
	samples = other->all + other->samples;
	for (u32 i = 0; i < QZ_CANDIDATES; i++) {
		u64 part;

		if (i >= n)
			break;
		in = other->all_in[i] + other->in[i];
		part = qz_path__part(unsettled, qz_path__share(in, samples));
		for (u32 k = 0; k < QZ_SPEEDS; k++) {
			u32 at = k * QZ_CANDIDATES + i;

			p->saving[at] = qz_path__released(p->saving[at], held,
							  other->saving[at] + (part >> k));
		}
	}
	return 0;
}

/*
 * A thread that was ready comes in. Where another one of its scope goes out, that had the processor which it waited
 * for; where it was preempted by others, it would have been preempted for less if it had less to run; and from a
 * wake-up until it runs it would have been ready in any case.
 */
static __noinline int critical_path__came(struct task_struct *prev, struct qz_thread_state *out,
					  struct task_struct *next, struct qz_thread_state *in,
					  u64 now)
{
	struct thread_path *p, *other;
	u64 unsettled;

	if (!prev || !next || !in || in->state != QZ_READY || now - in->since < PATH_READY)
		return 0;
	p = critical_path__get(next);
	if (!p)
		return 0;
	if (!out || out->scope != in->scope) {
		if (wait_account__site(in) == QZ_PREEMPTED_SITE)
			p->preempted += now - in->since;
		return 0;
	}
	other = critical_path__get(prev);
	if (!other)
		return 0;
	unsettled = out->ns[QZ_RUNNING] + other->preempted - other->settled;
	if ((s64)unsettled < 0)
		unsettled = 0;
	return critical_path__hand_over(p, other, now - in->since, unsettled);
}

/* ---- life ---- */

static __noinline int critical_path__fork(struct task_struct *parent, struct qz_thread_state *t,
					  struct task_struct *child, u64 now)
{
	struct thread_path *p, *begun;

	if (!parent || !t || !child)
		return 0;
	p = critical_path__get(parent);
	begun = critical_path__get(child);
	if (!p || !begun)
		return 0;
	critical_path__settle(p, critical_path__ran(t, now), critical_path__place(parent));
	begun->place = mix(p->place, QZ_WAIT_START) | 1;
	for (u32 i = 0; i < QZ_PATHS; i++)
		begun->saving[i] = p->saving[i];
	return 0;
}

static __always_inline void critical_path__raise(u64 *most, u64 value)
{
	u64 old = *(volatile u64 *)most;

	for (u32 i = 0; i < 4 && old < value; i++) {
		u64 seen = __sync_val_compare_and_swap(most, old, value);

		if (seen == old)
			break;
		old = seen;
	}
}

/* What it would have run without the candidate: if that had as much of it while it was not known as later. */
static __always_inline u64 critical_path__rest(const struct thread_path *p, u64 ran, u64 work)
{
	u64 known = ran - p->unknown;

	if ((s64)known <= 0 || work >= known)
		return 0;
	return ran - work - (ran - known) * (work >> 10) / ((known >> 10) + 1);
}

/* When it ended, and what it ran, of each path. */
__noinline int critical_path__finish(struct thread_path *p, u32 scope, u64 ran, u64 now)
{
	struct qz_path_scope *s = critical_path__scope(scope);

	if (!p || !s)
		return 0;
	__sync_fetch_and_add(&s->ended, 1);
	for (u32 i = 0; i < QZ_CANDIDATES; i++) {
		for (u32 k = 0; k < QZ_SPEEDS; k++) {
			u32 at = k * QZ_CANDIDATES + i;

			critical_path__raise(&s->finish[at], now - p->saving[at]);
			critical_path__raise(&s->most[at],
					     critical_path__rest(p, ran, p->work[i] >> k));
		}
	}
	return 0;
}

/*
 * A thread that another one ends, by exit_group or a signal, does not count: how far it would have come is of no
 * interest to the program.
 */
static __always_inline bool task__ends_itself(struct task_struct *task)
{
	u64 nr = arch__syscall_nr((struct pt_regs *)bpf_task_pt_regs(task));

	nr = arch__native_nr(nr);
	return nr == ARCH_NR_EXIT || nr == ARCH_NR_EXIT_GROUP;
}

static __noinline int critical_path__end(struct task_struct *task, struct qz_thread_state *t,
					 u64 now)
{
	struct qz_path_scope *s;
	struct thread_path *p;

	if (!task || !t)
		return 0;
	p = critical_path__get(task);
	s = critical_path__scope(t->scope);
	if (!p || !s)
		return 0;
	critical_path__settle(p, t->ns[QZ_RUNNING], critical_path__place(task));
	__sync_fetch_and_add(&s->running, t->ns[QZ_RUNNING]);
	__sync_fetch_and_add(&s->spinning, p->spins);
	for (u32 i = 0; i < QZ_CANDIDATES; i++)
		__sync_fetch_and_add(&s->work[i], p->work[i]);
	if (task__ends_itself(task))
		critical_path__finish(p, t->scope, t->ns[QZ_RUNNING], now);
	return 0;
}

#endif
