/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the text tables (bpf/text_tables.bpf.c) share with the programs that account: quartzd gives both objects the same maps and
 * the same configuration.
 */
#ifndef QUARTZ_TEXT_MAPS_BPF_H
#define QUARTZ_TEXT_MAPS_BPF_H

const volatile __u32 level_stride = 2; /* entries of levels per scope */

/*
 * Key: a thread. Written by the accounting, read by all programs. One entry for each thread of a
 * scope, made at fork or by the enumeration, never in the scheduler's path; freed by the kernel
 * with the thread. When there is no memory the thread is not followed and control.threads_refused
 * counts it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct qz_thread_state);
} threads SEC(".maps");

/*
 * Key: scope number. Written by the accounting of all processors with atomic operations, read by
 * quartzd through memory. Sized by quartzd; a process beyond is counted in scopes_refused.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_scope_state);
} scopes SEC(".maps");

/* Key: scope * level_stride + level. Value: exact ns at that level. Added to atomically. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} levels SEC(".maps");

/* One entry, see struct qz_control. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_control);
} control SEC(".maps");

static __always_inline struct qz_control *control__get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

/* The state of a thread of any scope, or NULL. For what is seldom called, see thread__get. */
static __always_inline struct qz_thread_state *thread__find(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

#endif
