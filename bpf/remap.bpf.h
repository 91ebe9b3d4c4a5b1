/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places that are used again: a library is mapped where another one was closed. From then on, until
 * quartzd has taken it in, the tables of the image describe code that is gone.
 */
#ifndef QUARTZ_REMAP_BPF_H
#define QUARTZ_REMAP_BPF_H

#define ERRORS_AT      ((u64)-4096) /* what is as high is no address but an error number */
#define OVERLAPPED_MAX 16	    /* regions that one mapping is looked for in */

/* The first region of an image that ends after an address: its index, or one too high. */
static __always_inline u32 image__region_behind(const struct qz_unwind_image *image, u64 address)
{
	u32 low = image->first, count = image->count;

	for (int i = 0; i < REGION_STEPS && count; i++) {
		u32 half = count / 2;
		struct qz_unwind_region *r = region__get(low + half);

		if (!r)
			break;
		if (r->end <= address) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* Whether there is code of a file at any of the addresses. */
static __always_inline bool image__has_file(const struct qz_unwind_image *image, u64 start, u64 end)
{
	u32 first = image__region_behind(image, start);

	for (u32 i = 0; i < OVERLAPPED_MAX; i++) {
		struct qz_unwind_region *r = region__get(first + i);

		if (!r || first + i - image->first >= image->count || r->start >= end)
			return false;
		if (r->count || r->first != QZ_UNWIND_GENERATED)
			return true;
	}
	return true;
}

/* The kernel hands out addresses for a mapping: what was there has been unmapped. */
SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(on_map, unsigned long start, struct vm_unmapped_area_info *info)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct qz_thread_state *t = thread__find(task);
	struct remapping remapping = {}, *before;
	struct qz_unwind_image *tables;
	u32 image;

	if (start >= ERRORS_AT)
		return 0;
	if (!t && tell__maps(task))
		t = tell__state(task, FRESH_TOLD, bpf_ktime_get_ns());
	if (!t)
		return 0;
	image = t->image;
	tables = bpf_map_lookup_elem(&unwind_images, &image);
	if (!tables)
		return 0;
	before = bpf_map_lookup_elem(&remapped, &image);
	if (before && remapping__is_new(before, tables))
		before->last = bpf_ktime_get_ns();
	if (!image__has_file(tables, start, start + info->length))
		return 0;
	remapping.when = bpf_ktime_get_ns();
	remapping.first = tables->first;
	remapping.last = remapping.when;
	bpf_map_update_elem(&remapped, &image, &remapping, BPF_ANY);
	return 0;
}

#endif
