/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose switches and wake-ups are written down: a bit for each process. */
#ifndef QUARTZ_FOLLOWED_BPF_H
#define QUARTZ_FOLLOWED_BPF_H

const volatile bool
	log_follows_all; /* every thread is in the log; else those of followed processes */

/* A bit for each process number: it is followed. Written at fork, and when they are found. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} followed SEC(".maps");

static __always_inline u64 *followed__word(u32 tgid)
{
	u32 key = tgid / 64;

	return bpf_map_lookup_elem(&followed, &key);
}

static __always_inline bool followed__has(const struct task_struct *task)
{
	u32 tgid = task->tgid;
	u64 *word = followed__word(tgid);

	return word && *word >> tgid % 64 & 1;
}

static __always_inline void followed__set(u32 tgid, bool on)
{
	u64 *word = followed__word(tgid), bit = 1ull << tgid % 64;

	if (word && on)
		__sync_fetch_and_or(word, bit);
	else if (word)
		__sync_fetch_and_and(word, ~bit);
}

/*
 * A new thread. The bit of a process that has ended stays until another one has its number: who ends is freed some time
 * after that.
 */
static __always_inline void followed__begin(const struct task_struct *child, bool follows)
{
	if (follows)
		followed__set(child->tgid, true);
	else if (child->pid == child->tgid && followed__has(child))
		followed__set(child->tgid, false);
}

static __always_inline bool log__wants(const struct task_struct *task)
{
	return log_follows_all || followed__has(task);
}

#endif
