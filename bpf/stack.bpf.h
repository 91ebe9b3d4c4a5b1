/* SPDX-License-Identifier: GPL-2.0-only */
/* The user stack of the current thread, for all takers: samples and creations. */
#ifndef QUARTZ_STACK_BPF_H
#define QUARTZ_STACK_BPF_H

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_CLONE  56
#define NR_FORK	  57
#define NR_VFORK  58
#define NR_CLONE3 435

/*
 * Whether addresses of code that the tables describe were used again, and quartzd has not made other
 * regions since, in the knowledge of it.
 */
static __always_inline bool image__is_remapped(u32 image, const struct qz_unwind_image *tables)
{
	struct remapping *r = bpf_map_lookup_elem(&remapped, &image);

	return r && (r->first == tables->first || r->when + QZ_UNWIND_MARGIN > tables->known);
}

/*
 * Whether the tables of an image may describe code that is gone. Code at new places does not make
 * them wrong. Where the kernel does not let us see that places are used again, any change of the
 * number of executable pages counts; a library at the old place with the same number of pages then
 * goes unnoticed for as long as the kernel's report of it takes to reach quartzd.
 */
static __always_inline bool unwind__is_stale(struct task_struct *task, u32 image,
					     const struct qz_unwind_image *tables)
{
	if (image__is_remapped(image, tables))
		return true;
	return tables->exec_vm && BPF_CORE_READ(task, mm, exec_vm) != tables->exec_vm;
}

/*
 * Walks the user stack of the current thread. False when there are no tables to do it with: then
 * u->end tells why.
 */
static __always_inline bool unwind__current(struct unwinding *u, struct task_struct *task,
					    u32 image)
{
	struct qz_unwind_image *tables = bpf_map_lookup_elem(&unwind_images, &image);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 nr;

	u->depth = 0;
	if (!tables) {
		u->end = QZ_UNWIND_NOT_READY;
		return false;
	}
	if (unwind__is_stale(task, image, tables)) {
		u->end = QZ_UNWIND_STALE;
		return false;
	}
	u->image = *tables;
	u->ip = regs->ip;
	u->sp = regs->sp;
	u->bp = regs->bp;
	u->thread_pointer = BPF_CORE_READ(task, thread.fsbase);
	nr = regs->orig_ax;
	u->at_clone = nr == NR_CLONE || nr == NR_CLONE3 || nr == NR_FORK || nr == NR_VFORK;
	unwind__walk(u);
	return true;
}

#endif
