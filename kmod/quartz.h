/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of the module. Functions return 0 or a negative errno. */
#ifndef QUARTZ_KMOD_QUARTZ_H
#define QUARTZ_KMOD_QUARTZ_H

#include <linux/kobject.h>
#include <linux/types.h>

#include "quartz/device.h"

/* ---- sysfs.c: /sys/kernel/quartz ---- */

int qz_sysfs_init(void);
void qz_sysfs_exit(void);
struct kobject *qz_sysfs_root(void);
void qz_sysfs_publish(const struct qz_ioc_publish *figures);
void qz_sysfs_enable(bool enabled);

/* ---- sysfs_scopes.c: a directory for each scope ---- */

int qz_sysfs_scopes_init(void);
void qz_sysfs_scopes_exit(void);
long qz_sysfs_scope_publish(const struct qz_ioc_publish_scope *scope);
long qz_sysfs_scope_retire(const char *name);
void qz_sysfs_scopes_retire_all(void);

/* ---- cpu_snapshot.c: what all processors do at one instant ---- */

int qz_cpu_snapshot_init(void);
void qz_cpu_snapshot_exit(void);
long qz_cpu_snapshot_take(struct qz_ioc_snapshot *snapshot);

/* ---- device.c: /dev/quartz ---- */

int qz_device_init(void);
void qz_device_exit(void);

#endif
