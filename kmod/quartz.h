/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of the module. Functions return 0 or a negative errno. */
#ifndef QUARTZ_KMOD_QUARTZ_H
#define QUARTZ_KMOD_QUARTZ_H

#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/types.h>

#include "quartz/device.h"

/* ---- page_sets.c: memory that programs share with quartzd ---- */

struct qz_page_set;

int qz_page_sets_init(void);
void qz_page_sets_exit(void);

/* Makes `file` a page set; its private data hold it until qz_page_set_release. */
long qz_page_set_open(struct file *file, const struct qz_ioc_open_set *open);
void qz_page_set_release(struct file *file);
int qz_page_set_mmap(struct file *file, struct vm_area_struct *vma);
int qz_page_sets_mmap_flag(struct vm_area_struct *vma);
/* The calls of quartzd; see quartz/device.h. */
long qz_page_sets_list(const struct qz_ioc_list_sets *list);
long qz_page_set_attach(const struct qz_ioc_attach_set *attach);
long qz_page_set_answer(const struct qz_ioc_answer_set *answer);

/* Whether a set waits for an answer; polling `file` is woken when one does. */
bool qz_page_sets_poll(struct file *file, struct poll_table_struct *wait);

/* The generation that programs see: a new one while a file listens, else 0. */
u32 qz_page_sets_begin_generation(void);
void qz_page_sets_end_generation(void);

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
