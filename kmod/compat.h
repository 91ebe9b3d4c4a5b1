/* SPDX-License-Identifier: GPL-2.0-only */
/* All differences between kernel versions, 5.15 and newer. */
#ifndef QUARTZ_KMOD_COMPAT_H
#define QUARTZ_KMOD_COMPAT_H

#include <linux/version.h>

/* 02a476d932e0 "kobject: make kobject_get_ownership() take a constant kobject *", 6.2 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define QZ_CONST_6_2
#else
#define QZ_CONST_6_2 const
#endif

#endif
