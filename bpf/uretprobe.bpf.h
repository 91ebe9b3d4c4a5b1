/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe on the return of a procedure (uretprobe) has replaced its return address on the stack. The kernel keeps what was
 * there, innermost first, with the place.
 */
#ifndef QUARTZ_URETPROBE_BPF_H
#define QUARTZ_URETPROBE_BPF_H

#define URETPROBES_BLOCK 8
#define URETPROBES_MAX	 64 /* of a thread, as in include/linux/uprobes.h */

struct return_instance___kept {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance___kept *next;
} __attribute__((preserve_access_index));

struct uprobe_task___kept {
	struct return_instance___kept *return_instances;
} __attribute__((preserve_access_index));

struct task_struct___with_uprobes {
	struct uprobe_task___kept *utask;
} __attribute__((preserve_access_index));

static __always_inline bool uretprobe__is_at(struct return_instance___kept *probe, u64 place)
{
	return BPF_CORE_READ(probe, stack) == place;
}

/* The first one at a place, or the one after a block; 0: none. A global function, which the verifier follows once. */
__noinline u64 uretprobe__pass(u64 address, u64 place)
{
	struct return_instance___kept *probe = (void *)address;

	for (int i = 0; i < URETPROBES_BLOCK && probe && !uretprobe__is_at(probe, place); i++)
		probe = BPF_CORE_READ(probe, next);
	return (u64)probe;
}

/* The return address that stood at a place of the current thread's stack, 0: none was replaced there. */
__noinline u64 uretprobe__replaced(u64 place)
{
	struct task_struct___with_uprobes *task = (void *)bpf_get_current_task();
	struct return_instance___kept *probe = NULL;

	if (!bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probe->orig_ret_vaddr))
		return 0;
	probe = BPF_CORE_READ(task, utask, return_instances);
	for (int i = 0; i < URETPROBES_MAX / URETPROBES_BLOCK && probe; i++)
		probe = (void *)uretprobe__pass((u64)probe, place);
	return probe && uretprobe__is_at(probe, place) ? BPF_CORE_READ(probe, orig_ret_vaddr) : 0;
}

#define UNWIND_REPLACED(place) uretprobe__replaced(place)

#endif
