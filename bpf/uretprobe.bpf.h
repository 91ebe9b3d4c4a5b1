/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe on the return of a procedure (uretprobe) has replaced its return address on the stack. The kernel keeps what was
 * there, innermost first, with the place.
 */
#ifndef QUARTZ_URETPROBE_BPF_H
#define QUARTZ_URETPROBE_BPF_H

#define URETPROBES_MAX 64 /* of a thread, as in include/linux/uprobes.h */

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

/* Looking for the one at a place. */
struct return_search {
	struct return_instance___kept *probe;
	u64 place;
};

/* As a turn of a loop. */
static long uretprobe__turn(u32 i, struct return_search *s)
{
	struct return_instance___kept *probe = s->probe;

	(void)i;
	if (!probe || uretprobe__is_at(probe, s->place))
		return 1;
	s->probe = BPF_CORE_READ(probe, next);
	return 0;
}

/* The return address that stood at a place of the current thread's stack, 0: none was replaced there. */
__noinline u64 uretprobe__replaced(u64 place)
{
	struct task_struct___with_uprobes *task = (void *)bpf_get_current_task();
	struct return_instance___kept *probe = NULL;
	struct return_search s = {.place = place};

	if (!bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probe->orig_ret_vaddr))
		return 0;
	s.probe = BPF_CORE_READ(task, utask, return_instances);
	LOOP(URETPROBES_MAX, uretprobe__turn, &s);
	probe = s.probe;
	return probe && uretprobe__is_at(probe, place) ? BPF_CORE_READ(probe, orig_ret_vaddr) : 0;
}

#define UNWIND_REPLACED(place) uretprobe__replaced(place)

#endif
