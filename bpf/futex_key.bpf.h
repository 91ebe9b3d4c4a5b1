/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words that processes share: one object, wherever each of them has mapped it. The kernel tells them by
 * the inode and the place in it, which the mapping leads to.
 */
#ifndef QUARTZ_FUTEX_KEY_BPF_H
#define QUARTZ_FUTEX_KEY_BPF_H

#define FUTEX_PRIVATE	 0x80 /* FUTEX_PRIVATE_FLAG, and FUTEX2_PRIVATE of the newer calls */
#define VM_SHARED_BIT	 0x8  /* include/linux/mm.h, unchanged since 2.6.12 */
#define SHARED_PAGE_BITS 12
#define SHARED_SPACE	 (1ull << 63) /* no image's */

struct shared_word {
	u64 address; /* in the process */
	u64 inode;   /* 0: the word is the process' own */
	u64 offset;  /* in the inode */
	u64 dev;
};

static long futex_key__find(struct task_struct *task, struct vm_area_struct *vma,
			    struct shared_word *w)
{
	struct inode *inode;

	if (!(BPF_CORE_READ(vma, vm_flags) & VM_SHARED_BIT))
		return 0;
	inode = BPF_CORE_READ(vma, vm_file, f_inode);
	if (!inode)
		return 0;
	w->offset = (BPF_CORE_READ(vma, vm_pgoff) << SHARED_PAGE_BITS) + w->address -
		    BPF_CORE_READ(vma, vm_start);
	w->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	w->inode = BPF_CORE_READ(inode, i_ino);
	return 0;
}

/*
 * What tells the word from others, when it is shared. Since Linux 5.17; without, and while the mappings
 * are being changed, it is an object of each process.
 */
static __always_inline bool futex_key__get(struct task_struct *task, u64 address, u32 scope,
					   u64 *space, u64 *place, u64 *offset)
{
	struct shared_word w = {.address = address};

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return false;
	if (bpf_find_vma(task, address, futex_key__find, &w, 0) || !w.inode)
		return false;
	*space = SHARED_SPACE | (u64)scope << 32 | w.dev;
	*place = w.inode;
	*offset = w.offset;
	return true;
}

#endif
