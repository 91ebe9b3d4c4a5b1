/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the text tables (bpf/text_tables.bpf.c) share with the programs that measure: quartzd gives both objects the same maps and
 * the same configuration.
 */
#ifndef QUARTZ_TEXT_MAPS_BPF_H
#define QUARTZ_TEXT_MAPS_BPF_H

const volatile __u32 level_stride = 2; /* entries of levels per scope */

/* Key: scope number. Sized by quartzd; a process beyond is counted in scopes_refused. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_scope_state);
} scopes SEC(".maps");

/*
 * Key: scope * level_stride + level. Value: exact ns at that level, as quartzd takes it from the log; at the last one
 * of a scope that of all levels beyond, too.
 */
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

#endif
