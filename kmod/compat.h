/* SPDX-License-Identifier: GPL-2.0-only */
/* All differences between kernel versions, 5.15 and newer. */
#ifndef QUARTZ_KMOD_COMPAT_H
#define QUARTZ_KMOD_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/* 1c71222e5f23 "mm: replace vma->vm_flags direct modifications with modifier calls", 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* a9b12f8b4a55 "driver core: make struct device_type.devnode() take a const *", 6.2 */
/* and 02a476d932e0 "kobject: make kobject_get_ownership() take a constant kobject *", 6.2 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define QZ_CONST_6_2
#else
#define QZ_CONST_6_2 const
#endif

#endif
